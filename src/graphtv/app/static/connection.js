// The WebSocket to the server. It resumes its session after an interruption.

const RETRY_MILLISECONDS = 1000;

// Messages that do not change the shown result.
const QUIET = ["classes", "finish", "cancel", "race", "stop race"];

export class Connection {
  constructor({ message, frame, lost, asked }) {
    Object.assign(this, { message, frame, lost, asked });
    this.token = null;
    this.isOver = false;
    this.connect();
  }

  connect() {
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const back = this.token ? `?session=${this.token}` : "";
    this.socket = new WebSocket(`${scheme}://${location.host}/live${back}`);
    this.turn = this.awaited = 0;
    this.socket.binaryType = "arraybuffer";
    this.socket.onmessage = (event) => this.receive(event.data);
    this.socket.onclose = () => {
      if (this.isOver) return;
      this.lost();
      setTimeout(() => this.connect(), RETRY_MILLISECONDS);
    };
  }

  // Text messages are JSON. Binary messages are the length of the header, the header as JSON, and pixels.
  receive(data) {
    if (typeof data === "string") {
      const message = JSON.parse(data);
      if (message.type === "hello") this.token = message.session;
      if (message.type === "expired" || message.type === "full") this.isOver = true;
      this.message(message);
      return;
    }
    const length = new DataView(data).getUint32(0, true);
    const header = JSON.parse(new TextDecoder().decode(new Uint8Array(data, 4, length)));
    this.frame(header, new Uint8Array(data, 4 + length));
  }

  // Client and server count the messages. The turn of an answer is the number of the message it responds to.
  send(message) {
    if (this.socket.readyState !== WebSocket.OPEN) return;
    this.socket.send(JSON.stringify(message));
    this.turn += 1;
    if (!QUIET.includes(message.type)) {
      this.awaited = this.turn;
      this.asked();
    }
  }

  isStale(message) {
    return message.turn < this.awaited;
  }

  url(name) {
    return `/session/${this.token}/${name}`;
  }
}
