// Sliders: the value beside a slider is also what screen readers announce.

import { element, on, value } from "./dom.js";

const formats = new Map();

// `format` turns the value of a slider into text. The text is in the element ID-shown.
export function slider(id, format, changed = () => {}) {
  formats.set(id, format);
  on(id, "input", () => {
    refresh(id);
    changed(value(id));
  });
  refresh(id);
}

export function refresh(id) {
  const text = formats.get(id)(value(id));
  element(id).setAttribute("aria-valuetext", text);
  const shown = element(`${id}-shown`);
  if (shown) shown.textContent = text;
}

export function set(id, number) {
  element(id).value = number;
  refresh(id);
}
