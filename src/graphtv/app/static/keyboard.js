// Keys: shortcuts of the page, and painting on the image without a pointer.

import { announce, element } from "./dom.js";

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

export class Keyboard {
  constructor({ stage, brush, scribbles, actions }) {
    Object.assign(this, { stage, brush, scribbles, actions });
    addEventListener("keydown", (event) => this.hear(event));
  }

  hear(event) {
    if (element("help").open || event.defaultPrevented) return;
    const isOnImage = document.activeElement === this.stage.frame;
    const isTyping = event.target.matches("input:not([type=range]):not([type=checkbox]), select");
    const isHandled =
      event.ctrlKey || event.metaKey
        ? !isTyping && this.withControl(event)
        : !event.altKey && ((isOnImage && this.onImage(event)) || (!isTyping && this.single(event, isOnImage)));
    if (isHandled) event.preventDefault();
  }

  withControl(event) {
    const key = event.key.toLowerCase();
    if (!this.actions.isSegmenting() || this.brush.current) return false;
    if (key === "z" && !event.shiftKey) this.scribbles.undo();
    else if (key === "y" || key === "z") this.scribbles.redo();
    else return false;
    return true;
  }

  onImage(event) {
    const { viewport } = this.stage;
    if (event.key in ARROWS) {
      const [x, y] = ARROWS[event.key];
      const isPainting = this.brush.isEnabled && !viewport.isMoving;
      const step = (isPainting ? Math.max(this.brush.size / 2, 1) : 40) * (event.shiftKey ? 5 : 1);
      if (isPainting) this.brush.step(step * x, step * y);
      else viewport.pan(-step * x, -step * y);
    } else if (event.key === " " && this.brush.isEnabled && !viewport.isMoving) {
      const isDown = this.brush.toggle();
      const [x, y] = this.brush.at.map(Math.round);
      announce(isDown ? `Stroke of ${this.actions.className()} begins at ${x}, ${y}` : `Stroke ends at ${x}, ${y}`);
    } else if (event.key === "Escape") this.brush.end();
    else return false;
    return true;
  }

  // Keys without Ctrl. Outside the image they can be turned off in the help.
  single(event, isOnImage) {
    if (!isOnImage && !element("single-keys").checked) return false;
    const { viewport } = this.stage;
    const { key } = event;
    if (key === "?") this.actions.help();
    else if (key === "+" || key === "=") viewport.scale(1.4);
    else if (key === "-") viewport.scale(1 / 1.4);
    else if (key === "0") viewport.fit();
    else if (key === ",") this.actions.slice(-1);
    else if (key === ".") this.actions.slice(1);
    else if (!this.actions.isSegmenting()) return false;
    else if (/^[1-8]$/.test(key)) this.actions.choose(Number(key));
    else if (key === "e") this.actions.choose(0);
    else if (key === "m") this.actions.move(!viewport.isMoving);
    else if (key === "[") this.actions.brush(-2);
    else if (key === "]") this.actions.brush(2);
    else return false;
    return true;
  }
}
