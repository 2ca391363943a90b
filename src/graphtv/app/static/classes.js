// The list of classes: colours, names and the class of the brush.

export class Classes {
  constructor({ colours, most, longest, chosen, changed, removed }) {
    Object.assign(this, { colours, most, longest, chosen, changed, removed });
    this.list = document.getElementById("classes");
    this.add_ = document.getElementById("add");
    this.names = ["background", "object"];
    this.current = 1;
    this.add_.addEventListener("click", () => this.add());
    this.render();
  }

  add() {
    if (this.names.length >= this.most) return;
    this.names.push(`class ${this.names.length + 1}`);
    this.render();
    this.changed(this.names);
    this.choose(this.names.length);
  }

  remove(number) {
    if (this.names.length <= 2) return;
    this.names.splice(number - 1, 1);
    this.render();
    this.removed(number);
    this.choose(Math.min(this.current, this.names.length));
  }

  rename(number, name) {
    this.names[number - 1] = name.trim().slice(0, this.longest) || `class ${number}`;
    this.changed(this.names);
  }

  choose(number) {
    if (number > this.names.length) return;
    this.current = number;
    [...this.list.children].forEach((row, k) => row.classList.toggle("chosen", k + 1 === number));
    this.chosen(number);
  }

  render() {
    this.list.replaceChildren(...this.names.map((name, k) => this.row(name, k + 1)));
    this.add_.disabled = this.names.length >= this.most;
  }

  row(name, number) {
    const row = document.createElement("li");
    row.classList.toggle("chosen", number === this.current);
    const swatch = document.createElement("button");
    swatch.className = "swatch";
    swatch.style.background = `rgb(${this.colours[number - 1]})`;
    swatch.title = `Paint ${name} (${number})`;
    swatch.setAttribute("aria-label", swatch.title);
    const input = document.createElement("input");
    Object.assign(input, { value: name, maxLength: this.longest, spellcheck: false });
    input.setAttribute("aria-label", `Name of class ${number}`);
    input.addEventListener("change", () => {
      this.rename(number, input.value);
      input.value = this.names[number - 1];
    });
    row.append(swatch, input);
    if (this.names.length > 2) {
      const remove = document.createElement("button");
      Object.assign(remove, { className: "remove", textContent: "×", title: `Remove ${name}` });
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
