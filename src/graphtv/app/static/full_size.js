// Denoising in full size: start, progress, cancel, save.

import { announce, element, link, on, percent, showError } from "./dom.js";

const SUFFIXES = { png: "png", jpg: "jpg", jpeg: "jpg", tif: "tif", tiff: "tif" };

export class FullSize {
  // `settings()` are those of the preview, `finished` is called when the result can be shown.
  constructor(connection, settings, finished) {
    Object.assign(this, { connection, settings, finished });
    this.reset();
    on("finish", "click", () => {
      showError("");
      connection.send({ ...settings(), type: "finish" });
    });
    on("cancel", "click", () => connection.send({ type: "cancel" }));
  }

  reset() {
    this.isDone = false;
    element("full-progress").hidden = true;
    element("finish").disabled = !this.image;
    link("get-denoised", null);
  }

  // The settings have changed, so a preview is shown again.
  leave() {
    this.isDone = false;
    if (this.image) element("full-note").textContent = this.note();
  }

  // Another image or slice. `name` is the name of its file.
  setImage(image, preview, name) {
    if (image.name !== null) {
      this.image = image;
      const stem = name.replace(/\.[^.]*$/, "");
      const suffix = SUFFIXES[name.split(".").at(-1).toLowerCase()] ?? (image.slices > 1 ? "tif" : "png");
      this.file = `${stem}-denoised.${suffix}`;
      this.isWhole = image.slices === 1 && image.original[0] * image.original[1] <= preview;
      this.reset();
      element("finish").parentElement.hidden = this.isWhole;
      element("full-note").textContent = this.note();
    }
  }

  note() {
    const { original, slices, depth, channels } = this.image;
    const size = [...original, ...(slices > 1 ? [`${slices} slices`] : [])].join(" × ");
    const bits = { uint8: "8-bit", uint16: "16-bit", bool: "1-bit" }[depth] ?? depth;
    const colours = channels > 1 ? `, ${channels} channels` : "";
    const isPreview = !this.isWhole && !this.isDone;
    const preview = isPreview ? "You see a preview." : "You see the result in full size.";
    return `${size}, ${bits}${colours}. ${preview}`;
  }

  // The preview is the result if the image is small enough.
  hearPreview(header) {
    if (header.full) link("get-denoised", this.connection.url("denoised"), this.file);
    else if (this.isWhole) link("get-denoised", null);
  }

  hear(progress) {
    const isActive = progress.state === "waiting" || progress.state === "running";
    element("full-progress").hidden = !isActive;
    element("finish").disabled = isActive;
    if (isActive) this.show(progress);
    if (progress.state === "cancelled") {
      this.leave();
      link("get-denoised", null);
    }
    if (progress.message) showError(progress.message);
    if (progress.state === "done") this.end(progress);
  }

  show({ state, share, part, parts }) {
    element("full-bar").value = share;
    const which = parts > 1 ? `, part ${part} of ${parts}` : "";
    element("full-shown").textContent = state === "waiting" ? "Waiting for the processor" : `Denoising: ${Math.round(100 * share)} %${which}`;
  }

  end({ gap, seconds }) {
    this.isDone = true;
    element("full-note").textContent = this.note();
    link("get-denoised", this.connection.url("denoised"), this.file);
    const text = `Full size, within ${percent(gap)} of the best possible for these settings (${seconds.toFixed(1)} s).`;
    announce(`Done. ${text}`);
    this.finished(text);
  }
}
