// The list of classes: names, colours and the class of the brush.

import { element, on } from "./dom.js";

export class Classes {
  // The callbacks: `chosen` another class, `changed` names or colours, `removed` a class.
  constructor({ colours, most, longest, chosen, changed, removed }) {
    Object.assign(this, { palette: colours, most, longest, chosen, changed, removed });
    this.list = element("classes");
    this.names = ["background", "object"];
    this.colours = colours.slice(0, 2);
    this.current = 1;
    on("add", "click", () => this.add());
    this.render();
  }

  add() {
    if (this.names.length >= this.most) return;
    this.names.push(`class ${this.names.length + 1}`);
    this.colours.push(this.palette.find((colour) => !this.colours.some((own) => String(own) === String(colour))));
    this.render();
    this.changed();
    this.choose(this.names.length);
  }

  replace(names, colours) {
    Object.assign(this, { names: [...names], colours: [...colours] });
    this.render();
    this.choose(Math.min(this.current, names.length));
  }

  remove(number) {
    if (this.names.length <= 2) return;
    this.names.splice(number - 1, 1);
    this.colours.splice(number - 1, 1);
    this.render();
    this.removed(number);
    this.choose(Math.min(this.current, this.names.length));
  }

  rename(number, name) {
    this.names[number - 1] = name.trim().slice(0, this.longest) || `class ${number}`;
    this.changed();
  }

  recolour(number, code) {
    this.colours[number - 1] = [1, 3, 5].map((at) => parseInt(code.slice(at, at + 2), 16));
    this.render();
    this.changed();
  }

  choose(number) {
    if (number > this.names.length) return;
    this.current = number;
    this.mark(number);
    this.chosen(number);
  }

  // Mark the class of the brush; 0 for the eraser.
  mark(number) {
    [...this.list.children].forEach((row, k) => {
      row.classList.toggle("chosen", k + 1 === number);
      row.querySelector(".pick").setAttribute("aria-pressed", k + 1 === number);
    });
  }

  render() {
    this.list.replaceChildren(...this.names.map((name, k) => this.row(name, k + 1)));
    this.mark(this.current);
    element("add").disabled = this.names.length >= this.most;
  }

  row(name, number) {
    const row = document.createElement("li");
    const colour = this.colours[number - 1];
    const pick = make("button", "pick", `${number}: paint ${name}`, { textContent: number, title: `Paint ${name} (key ${number})` });
    Object.assign(pick.style, { background: `rgb(${colour})`, color: isLight(colour) ? "#000" : "#fff" });
    const input = make("input", "name", `Name of class ${number}`, { value: name, maxLength: this.longest, spellcheck: false });
    input.addEventListener("change", () => {
      this.rename(number, input.value);
      input.value = this.names[number - 1];
    });
    const picker = make("input", "colour", `Colour of ${name}`, { type: "color", value: code(colour), title: `Colour of ${name}` });
    picker.addEventListener("change", () => this.recolour(number, picker.value));
    row.append(pick, input, picker);
    if (this.names.length > 2) {
      const remove = make("button", "remove", `Remove ${name}`, { textContent: "×", title: `Remove ${name} and its strokes` });
      remove.addEventListener("click", (event) => {
        event.stopPropagation();
        this.remove(number);
      });
      row.append(remove);
    }
    row.addEventListener("click", () => this.choose(number));
    return row;
  }
}

function make(tag, kind, label, properties) {
  const made = Object.assign(document.createElement(tag), { className: kind, ...properties });
  made.setAttribute("aria-label", label);
  return made;
}

const code = (colour) => `#${colour.map((part) => part.toString(16).padStart(2, "0")).join("")}`;

// Black text is readable on a colour with this relative luminance (WCAG), white text on others.
function isLight(colour) {
  const [red, green, blue] = colour.map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179;
}
