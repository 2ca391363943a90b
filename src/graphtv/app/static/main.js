// The page: sends user input to the server and shows its answers.

import { Brush } from "./brush.js";
import { Classes } from "./classes.js";
import { Connection } from "./connection.js";
import { Stage } from "./stage.js";
import { Status, number } from "./status.js";

const element = (id) => document.getElementById(id);
const value = (id) => Number(element(id).value);
const on = (id, event, action) => element(id).addEventListener(event, action);

const stage = new Stage();
const status = new Status();
let greeting, classes, image;
let labels = null;
let isSegmenting = true;
let isAutomatic = false;

const brush = new Brush(stage, {
  colour: (k) => greeting.colours[k - 1],
  send: (message) => connection.send(message),
  changed: () => {
    element("undo").disabled = element("clear").disabled = !brush?.strokes.length;
    enable("get-scribbles", isSegmenting && brush?.strokes.length > 0, "scribbles.png");
  },
});

const connection = new Connection({
  message: (message) => handlers[message.type]?.(message),
  frame: (header, pixels) => {
    if (!image || header.width !== image.width || header.height !== image.height) return;
    if (isSegmenting !== (header.type === "labels")) return;
    if (connection.isStale(header)) return;
    stage.say("");
    status.show(header);
    if (header.type === "labels") showLabels(pixels);
    else showDenoised(header, pixels);
  },
  lost: () => status.reset("reconnecting", "the server does not respond"),
  asked: () => status.ask(),
});

const handlers = {
  hello(message) {
    const isFirst = !greeting;
    greeting = message;
    if (isFirst) begin(message);
    else if (!message.back) {
      showError("The session has ended. Your strokes were lost.");
      element("sample").value ||= message.samples[0];
      connection.send({ type: "sample", name: element("sample").value });
    }
    if (message.back) status.reset("ready");
    sendClasses(classes.names);
    request();
  },
  image(message) {
    image = message;
    labels = null;
    isAutomatic = false;
    stage.setSize(message.width, message.height, message.original);
    brush.forget();
    enable("get-labels", false);
    enable("get-denoised", false);
    showPicture();
    request();
  },
  waiting(message) {
    if (connection.isStale(message)) return;
    labels = null;
    stage.clearResult();
    stage.say(message.message);
    status.reset("waiting for scribbles");
    enable("get-labels", false);
  },
  error(message) {
    showError(message.message);
    status.reset("ready");
  },
  full: (message) => showError(`${message.message} Close another tab, then reload.`),
  expired() {
    showError("This session was closed after a period of inactivity. Reload the page to start a new one.");
    status.reset("closed");
  },
};

function begin(message) {
  const option = (text) => Object.assign(document.createElement("option"), { textContent: text });
  element("sample").replaceChildren(...message.samples.map(option), ownImage);
  for (const id of ["preconditioner", "denoise-preconditioner"]) {
    element(id).replaceChildren(...message.preconditioners.map(option));
  }
  classes = new Classes({
    colours: message.colours,
    most: message.limits.classes,
    longest: message.limits.name,
    chosen: choose,
    changed: sendClasses,
    removed: (k) => brush.removeClass(k),
  });
  connection.send({ type: "sample", name: message.samples[0] });
  showValues();
}

// Painting ----------------------------------------------------------------------------------------

function choose(k) {
  brush.number = k;
  element("eraser").setAttribute("aria-pressed", k === 0);
  if (k === 0) document.querySelector("#classes .chosen")?.classList.remove("chosen");
}

function sendClasses(names) {
  connection.send({ type: "classes", names });
}

on("eraser", "click", () => (brush.number === 0 ? classes.choose(classes.current) : choose(0)));
on("undo", "click", () => brush.undo());
on("clear", "click", () => brush.clear());
on("brush", "input", showValues);
on("strokes-visible", "change", (event) => {
  stage.strokes.style.opacity = event.target.checked ? 1 : 0;
});
on("tint", "input", () => {
  showValues();
  if (labels) showLabels(labels);
});

addEventListener("keydown", (event) => {
  if (event.target.matches("input:not([type=range]), select") || !isSegmenting) return;
  if ((event.ctrlKey || event.metaKey) && event.key === "z") brush.undo();
  else if (event.ctrlKey || event.metaKey || event.altKey) return;
  else if (/^[1-8]$/.test(event.key)) classes?.choose(Number(event.key));
  else if (event.key === "e") choose(0);
  else if (event.key === "[" || event.key === "]") {
    element("brush").value = value("brush") + (event.key === "]" ? 2 : -2);
    showValues();
  } else return;
  event.preventDefault();
});

function showLabels(pixels) {
  labels = pixels;
  stage.showLabels(labels, greeting.colours, value("tint") / 100);
  enable("get-labels", true, "labels.png");
}

// Denoising ---------------------------------------------------------------------------------------

function showDenoised(header, pixels) {
  const half = pixels.length / 2;
  stage.showPixels(stage.picture, pixels.subarray(0, half));
  stage.showPixels(stage.result, pixels.subarray(half));
  if (isAutomatic) {
    element("strength").value = Math.log10(header.weight);
    showValues();
    element("strength-shown").textContent = number(header.weight);
  }
  enable("get-denoised", true, "denoised.png");
}

on("strength", "input", () => {
  isAutomatic = false;
  request();
});
on("auto", "click", () => {
  isAutomatic = true;
  status.reset("estimating", "noise level and weight");
  request();
});
for (const id of ["weight", "noise", "preconditioner", "denoise-preconditioner"]) on(id, "input", request);

// Shown in the list of samples after the user has opened an image. It cannot be selected.
const ownImage = Object.assign(document.createElement("option"), { value: "", hidden: true, textContent: "your image" });

// Both tabs ---------------------------------------------------------------------------------------

// Request a result with the current settings.
function request() {
  showValues();
  if (!image) return;
  connection.send(
    isSegmenting
      ? { type: "segment", weight: 10 ** value("weight"), preconditioner: element("preconditioner").value }
      : {
          type: "denoise",
          weight: isAutomatic ? "auto" : 10 ** value("strength"),
          noise: value("noise"),
          preconditioner: element("denoise-preconditioner").value,
        },
  );
}

function showValues() {
  brush.size = value("brush");
  element("brush-shown").textContent = `${brush.size} px`;
  element("weight-shown").textContent = number(10 ** value("weight"));
  element("tint-shown").textContent = `${value("tint")} %`;
  element("strength-shown").textContent = number(10 ** value("strength"));
  element("noise-shown").textContent = value("noise").toFixed(2);
}

function switchTo(segmenting) {
  isSegmenting = segmenting;
  for (const [id, isOn] of [["segment", segmenting], ["denoise", !segmenting]]) {
    element(`tab-${id}`).setAttribute("aria-selected", isOn);
    element(`panel-${id}`).hidden = !isOn;
  }
  brush.isEnabled = segmenting;
  stage.frame.classList.toggle("painting", segmenting);
  stage.strokes.hidden = !segmenting;
  stage.split.value = segmenting ? 0 : 50;
  stage.divide();
  stage.say("");
  stage.clearResult();
  labels = null;
  status.reset("ready");
  showPicture();
  request();
}
on("tab-segment", "click", () => switchTo(true));
on("tab-denoise", "click", () => switchTo(false));

async function showPicture() {
  if (!image) return;
  const wanted = image;
  const response = await fetch(`${connection.url("image.png")}?${wanted.picture}`);
  if (!response.ok) return;
  const bitmap = await createImageBitmap(await response.blob());
  // A newer or a denoised image may have arrived in the meantime.
  if (wanted === image && isSegmenting) stage.picture.getContext("2d").drawImage(bitmap, 0, 0);
}

async function upload(file) {
  showError("");
  if (!file) return;
  if (!greeting.types.includes(file.type)) return showError("This is not a PNG, JPEG, WebP or BMP image.");
  if (file.size > greeting.limits.bytes) {
    const most = Math.round(greeting.limits.bytes / 2 ** 20);
    return showError(`This file is too large. The limit is ${most} MB.`);
  }
  try {
    const headers = { "Content-Type": file.type };
    const response = await fetch(connection.url("image"), { method: "POST", body: file, headers });
    if (!response.ok) showError(await response.text());
    else element("sample").value = ownImage.value;
  } catch {
    showError("The upload failed.");
  }
}

on("sample", "change", (event) => {
  showError("");
  connection.send({ type: "sample", name: event.target.value });
});
on("open", "click", () => element("file").click());
on("file", "change", (event) => {
  upload(event.target.files[0]);
  event.target.value = "";
});
on("frame", "dragover", (event) => {
  event.preventDefault();
  stage.frame.classList.add("dropping");
});
on("frame", "dragleave", () => stage.frame.classList.remove("dropping"));
on("frame", "drop", (event) => {
  event.preventDefault();
  stage.frame.classList.remove("dropping");
  upload(event.dataTransfer.files[0]);
});

function showError(text) {
  element("message").hidden = !text;
  document.querySelector("#message span").textContent = text;
}
document.querySelector("#message button").addEventListener("click", () => showError(""));

function enable(id, isOn, name) {
  const link = element(id);
  link.setAttribute("aria-disabled", !isOn);
  if (isOn) link.href = connection.url(name);
  else link.removeAttribute("href");
}

stage.frame.classList.add("painting");
