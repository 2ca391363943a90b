// Short names for what every module does with the page.

export const element = (id) => document.getElementById(id);
export const value = (id) => Number(element(id).value);
export const on = (id, event, action) => element(id).addEventListener(event, action);

// Announce a text to screen readers. An empty text first makes a repetition audible.
export function announce(text) {
  element("live").textContent = "";
  element("live").textContent = text;
}

export function showError(text) {
  element("message").hidden = !text;
  document.querySelector("#message span").textContent = text;
}

// Enable a download link, or disable it if there is no address.
export function link(id, address, name) {
  const anchor = element(id);
  anchor.setAttribute("aria-disabled", !address);
  if (address) Object.assign(anchor, { href: address, download: name });
  else anchor.removeAttribute("href");
}

export function number(value) {
  if (value === 0) return "0";
  return value < 1e-3 || value >= 1e4 ? value.toExponential(1) : String(Number(value.toPrecision(2)));
}

export function percent(share) {
  const hundred = 100 * share;
  return `${hundred < 0.1 ? Number(hundred.toPrecision(1)) : Number(hundred.toFixed(1))} %`;
}
