/* The part of a request that explains its key. It is a component of Vue, whose DOM is made here. */

const explanation =
  'A repeat with this key is the same payment or charge: it never pays twice. For another one take a';

export const paymentKeys = {
  props: { operation: { type: Object } },
  render: () => null,
  mounted() {
    const parameter = this.operation?.parameters?.find(({ name }) => name === 'Idempotency-Key');
    if (!parameter) return;
    this.box = document.createElement('p');
    this.box.className = 'payment-key';
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = 'New key';
    button.addEventListener('click', () => {
      parameter.example = crypto.randomUUID();
    });
    this.box.append(explanation, ' ', button);
    this.$el.after(this.box);
  },
  unmounted() {
    this.box?.remove();
  },
};
