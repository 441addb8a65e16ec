/** The state of a delivery. */
export interface Delivery {
  state: 'under_way' | 'acknowledged' | 'given_up' | 'lost';
}
