/** What becomes of a delivery, for whoever keeps count. */
export interface Delivery {
  state: 'under_way' | 'acknowledged' | 'given_up' | 'lost';
}
