// Opening images and scribbles: by button, and by drag and drop.

import { element, on, showError } from "./dom.js";

const TYPES = { png: "image/png", jpg: "image/jpeg", jpeg: "image/jpeg", tif: "image/tiff", tiff: "image/tiff", webp: "image/webp", bmp: "image/bmp" };

export class Files {
  // `opened` is called when the server has accepted an image. Its name is `latest`.
  constructor(connection, stage, opened) {
    Object.assign(this, { connection, opened });
    this.latest = "image.png";
    this.pick("open", "file", (file) => this.image(file));
    this.pick("load-scribbles", "scribbles-file", (file) => this.scribbles(file));
    const { frame } = stage;
    frame.addEventListener("dragover", (event) => {
      event.preventDefault();
      frame.classList.add("dropping");
    });
    frame.addEventListener("dragleave", () => frame.classList.remove("dropping"));
    frame.addEventListener("drop", (event) => {
      event.preventDefault();
      frame.classList.remove("dropping");
      this.image(event.dataTransfer.files[0]);
    });
  }

  pick(button, input, use) {
    on(button, "click", () => element(input).click());
    on(input, "change", (event) => {
      use(event.target.files[0]);
      event.target.value = "";
    });
  }

  async image(file) {
    if (!file) return;
    const kind = this.kind(file);
    if (!this.types.includes(kind)) return showError("This is not a PNG, JPEG, TIFF, WebP or BMP image.");
    const before = this.latest;
    this.latest = file.name;
    if (await this.upload("image", file, kind)) this.opened();
    else this.latest = before;
  }

  async scribbles(file) {
    if (!file) return;
    if (this.kind(file) !== "image/png") return showError("Scribbles must be a PNG image, as saved by this page.");
    await this.upload("scribbles", file, "image/png");
  }

  kind(file) {
    return file.type || TYPES[file.name.split(".").at(-1).toLowerCase()];
  }

  async upload(what, file, kind) {
    showError("");
    if (file.size > this.most) {
      showError(`This file is too large. The limit is ${Math.round(this.most / 2 ** 20)} MB.`);
      return false;
    }
    const button = element(what === "image" ? "open" : "load-scribbles");
    const text = button.textContent;
    Object.assign(button, { disabled: true, textContent: "Loading…" });
    try {
      const headers = { "Content-Type": kind };
      const response = await fetch(this.connection.url(what), { method: "POST", body: file, headers });
      if (!response.ok) showError(await response.text());
      return response.ok;
    } catch {
      showError("The upload failed.");
      return false;
    } finally {
      Object.assign(button, { disabled: false, textContent: text });
    }
  }
}
