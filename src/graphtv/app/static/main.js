// The page: sends user input to the server and shows its answers.

import { Brush } from "./brush.js";
import { Classes } from "./classes.js";
import { Connection } from "./connection.js";
import { announce, element, link, number, on, showError, value } from "./dom.js";
import { Files } from "./files.js";
import { FullSize } from "./full_size.js";
import { Keyboard } from "./keyboard.js";
import { Race } from "./race.js";
import { Scribbles } from "./scribbles.js";
import { set, slider } from "./sliders.js";
import { Stage } from "./stage.js";
import { Status } from "./status.js";
import { Tabs } from "./tabs.js";

const send = (message) => connection.send(message);
const stage = new Stage();
const status = new Status();
let greeting, classes, image;
let labels = null;
let isSegmenting = true;
let isAutomatic = false;
let suggested = null;
let fileName = "";

const scribbles = new Scribbles(stage.strokes, {
  colour: (k) => classes.colours[k - 1],
  send,
  changed: () => {
    element("undo").disabled = !scribbles.canUndo;
    element("redo").disabled = !scribbles.canRedo;
    element("clear").disabled = scribbles.isEmpty;
    link("get-scribbles", scribbles.isEmpty ? null : connection.url("scribbles.png"), `${stem()}-scribbles.png`);
  },
});
const brush = new Brush(stage, scribbles, send);
const race = new Race(send);

const connection = new Connection({
  message: (message) => handlers[message.type]?.(message),
  frame: (header, pixels) => {
    if (header.type === "marks") return scribbles.replace(pixels.slice());
    if (!image || isSegmenting !== (header.type === "labels") || connection.isStale(header)) return;
    race.tolerance = header.tolerance;
    if (header.type === "labels") {
      if (header.width !== image.width || header.height !== image.height) return;
      showLabels(pixels);
    } else {
      if (fullSize.isDone) return;
      showDenoised(header, pixels);
    }
    stage.say("");
    status.show(header);
  },
  lost: () => status.reset("Reconnecting", "The server does not respond."),
  asked: () => status.ask(),
});

const fullSize = new FullSize(connection, settings, (text) => {
  if (isSegmenting) return;
  status.say("Done", text, true);
  showFullSize();
});
const files = new Files(connection, stage, () => (element("sample").value = ownImage.value));

const handlers = {
  hello(message) {
    const isFirst = !greeting;
    greeting = message;
    if (isFirst) begin(message);
    else if (!message.back) {
      showError("The session has ended. Your strokes were lost.");
      element("sample").value ||= message.samples[0];
      send({ type: "sample", name: element("sample").value });
    }
    if (message.back) status.reset("Ready");
    sendClasses();
    request();
  },
  image(message) {
    const isNew = message.name !== null;
    image = message;
    labels = null;
    if (isNew) {
      isAutomatic = false;
      suggested = null;
      fileName = message.name === "your image" ? files.latest : message.name;
      stage.viewport.fit();
    }
    stage.setSize(message.width, message.height);
    if (isNew) scribbles.forget();
    scribbles.open(message.slice);
    showSlices();
    fullSize.setImage(message, greeting.limits.preview, fileName);
    link("get-labels", null);
    showPicture();
    if (fullSize.isDone && !isSegmenting) showFullSize();
    else request();
  },
  waiting(message) {
    if (connection.isStale(message)) return;
    labels = null;
    stage.clearResult();
    stage.say(message.message);
    status.reset("Waiting for scribbles", `${message.message}.`);
    link("get-labels", null);
  },
  classes: ({ names, colours }) => classes.replace(names, colours),
  progress: (message) => fullSize.hear(message),
  race: (message) => race.hear(message),
  error(message) {
    showError(message.message);
    race.abandon();
    status.reset("Ready");
  },
  full: (message) => showError(`${message.message} Close another tab, then reload.`),
  expired() {
    showError("This session was closed after a period of inactivity. Reload the page to start a new one.");
    status.reset("Closed");
  },
};

function begin(message) {
  const option = (text) => Object.assign(document.createElement("option"), { textContent: text });
  element("sample").replaceChildren(...message.samples.map(option), ownImage);
  element("preconditioner").replaceChildren(...message.preconditioners.map(option));
  race.setContestants(message.contestants);
  Object.assign(files, { types: message.types, most: message.limits.bytes });
  classes = new Classes({
    colours: message.colours,
    most: message.limits.classes,
    longest: message.limits.name,
    chosen: choose,
    changed: () => {
      sendClasses();
      scribbles.redraw();
      if (labels) showLabels(labels);
    },
    removed: (k) => scribbles.removeClass(k),
  });
  send({ type: "sample", name: message.samples[0] });
}

// Segment -----------------------------------------------------------------------------------------

function choose(k) {
  brush.end();
  brush.number = k;
  classes.mark(k);
  element("eraser").setAttribute("aria-pressed", k === 0);
}

const className = () => (brush.number ? classes.names[brush.number - 1] : "the eraser");

function chooseByKey(k) {
  if (k) classes?.choose(k);
  else choose(0);
  announce(`Brush: ${className()}`);
}

function sendClasses() {
  send({ type: "classes", names: classes.names, colours: classes.colours });
}

function move(isMoving) {
  stage.viewport.isMoving = isMoving || !isSegmenting;
  element("tool-paint").setAttribute("aria-pressed", !isMoving);
  element("tool-move").setAttribute("aria-pressed", isMoving);
  stage.frame.classList.toggle("painting", !stage.viewport.isMoving);
  stage.frame.classList.toggle("moving", stage.viewport.isMoving);
  if (stage.viewport.isMoving) brush.hideCursor();
}

on("tool-paint", "click", () => move(false));
on("tool-move", "click", () => move(true));
on("eraser", "click", () => (brush.number === 0 ? classes.choose(classes.current) : choose(0)));
on("undo", "click", () => scribbles.undo());
on("redo", "click", () => scribbles.redo());
on("clear", "click", () => scribbles.clear());
on("strokes-visible", "change", (event) => (stage.strokes.style.opacity = event.target.checked ? 1 : 0));
slider("brush", (size) => `${size} px`, (size) => (brush.size = size));
slider("weight", (power) => number(10 ** power), () => request());
slider("tint", (share) => `${share} %`, () => labels && showLabels(labels));

function showLabels(pixels) {
  labels = pixels;
  stage.showLabels(labels, classes.colours, value("tint") / 100);
  link("get-labels", connection.url("labels.png"), `${stem()}-labels.png`);
}

// Denoise -----------------------------------------------------------------------------------------

// The weight of denoise_tv: the slider is relative to the contrast of the image.
const weight = (power) => suggested ?? 10 ** power * (image?.contrast ?? 1);

function settings() {
  const isChecked = (id) => element(id).checked && !element(id).closest("label").hidden;
  return {
    type: "denoise",
    weight: isAutomatic ? "auto" : weight(value("strength")),
    noise: value("noise"),
    isotropic: isChecked("isotropic"),
    coupled: isChecked("coupled"),
    volume: isChecked("volume"),
    preconditioner: element("preconditioner").value,
  };
}

function showDenoised(header, pixels) {
  const half = pixels.length / 2;
  stage.showPixels(stage.picture, pixels.subarray(0, half), header.width, header.height);
  stage.showPixels(stage.result, pixels.subarray(half), header.width, header.height);
  if (isAutomatic) {
    suggested = header.weight;
    set("strength", Math.log10(header.weight / image.contrast));
    isAutomatic = !header.done;
  }
  fullSize.hearPreview(header);
}

async function showFullSize() {
  const wanted = image;
  const [before, after] = await Promise.all(["before.png", "after.png"].map(bitmap));
  if (!before || !after || wanted !== image || isSegmenting || !fullSize.isDone) return;
  stage.say("");
  stage.draw(stage.picture, before);
  stage.draw(stage.result, after);
}

on("strength", "input", () => {
  isAutomatic = false;
  suggested = null;
});
slider("strength", (power) => number(weight(power)), request);
slider("noise", (share) => (share ? `${Math.round(100 * share)} %` : "none"), request);
on("auto", "click", () => {
  isAutomatic = true;
  request();
  status.say("Estimating", "the noise in the original image, and the best strength", false);
});

// A strength can be suggested for the standard model only.
const models = ["isotropic", "coupled", "volume"];
function showSuggestionNote() {
  element("suggestion-note").hidden = !models.some((id) => settings()[id]);
}
for (const id of models) on(id, "input", showSuggestionNote);
for (const id of [...models, "preconditioner"]) on(id, "input", request);

// Both tabs ---------------------------------------------------------------------------------------

// Request a result with the current settings.
function request() {
  if (!image) return;
  race.stop();
  fullSize.leave();
  send(
    isSegmenting
      ? { type: "segment", weight: 10 ** value("weight"), preconditioner: element("preconditioner").value }
      : settings(),
  );
}

new Tabs(document.querySelector(".tabs"), (task) => {
  isSegmenting = task === "segment";
  brush.end();
  brush.isEnabled = isSegmenting;
  for (const each of document.querySelectorAll(".segment-only")) each.hidden = !isSegmenting;
  stage.strokes.hidden = !isSegmenting;
  move(false);
  stage.name("Original", isSegmenting ? "Segments" : "Denoised");
  stage.moveDivider(isSegmenting ? 0 : 50);
  stage.say("");
  stage.clearResult();
  labels = null;
  status.reset("Ready");
  if (image) showSlices();
  if (isSegmenting) showPicture();
  request();
});

function showSlices() {
  const isStack = image.slices > 1;
  element("slices").hidden = !isStack;
  element("slice").max = image.slices - 1;
  set("slice", image.slice);
  for (const each of document.querySelectorAll(".stack-only")) each.hidden = !isStack;
  for (const each of document.querySelectorAll(".channels-only")) each.hidden = image.channels < 2;
  showSuggestionNote();
  set("strength", value("strength"));
  const isReduced = image.original[0] !== image.width || image.original[1] !== image.height;
  element("note").hidden = !isReduced || !isSegmenting;
  const [from, to] = [image.original, [image.width, image.height]].map((size) => size.join(" × "));
  element("note").textContent = `The image has ${from} pixels. Segments are computed with ${to} and saved in the original size.`;
}
slider("slice", (k) => `${k + 1} of ${image?.slices ?? 1}`, (index) => send({ type: "slice", index }));

async function bitmap(name) {
  const response = await fetch(`${connection.url(name)}?${image.picture}`);
  return response.ok ? createImageBitmap(await response.blob()) : null;
}

async function showPicture() {
  if (!image) return;
  const wanted = image;
  const shown = await bitmap("image.png");
  // A newer or a denoised image may have arrived in the meantime.
  if (shown && wanted === image && isSegmenting) stage.draw(stage.picture, shown);
}

// Shown in the list of samples after the user has opened an image. It cannot be selected.
const ownImage = Object.assign(document.createElement("option"), { value: "", hidden: true, textContent: "your image" });
const stem = () => fileName.replace(/\.[^.]*$/, "") || "image";

on("sample", "change", (event) => {
  showError("");
  send({ type: "sample", name: event.target.value });
});
document.querySelector("#message button").addEventListener("click", () => showError(""));
on("open-help", "click", () => element("help").showModal());

new Keyboard({
  stage,
  brush,
  scribbles,
  actions: {
    isSegmenting: () => isSegmenting,
    className,
    choose: chooseByKey,
    move,
    help: () => element("help").showModal(),
    brush: (by) => {
      set("brush", value("brush") + by);
      brush.size = value("brush");
      if (brush.at) brush.showCursor();
    },
    slice: (by) => {
      if (!image || image.slices < 2) return;
      set("slice", value("slice") + by);
      send({ type: "slice", index: value("slice") });
    },
  },
});

stage.name("Original", "Segments");
stage.frame.classList.add("painting");
stage.divide();
