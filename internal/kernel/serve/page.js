"use strict";
// Defines gonb_comm, by which scripts of widgets exchange values with the kernel.
(() => {
  const session = "SESSION", kernel = "KERNEL";
  const unique = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), b => b.toString(16).padStart(2, "0")).join("");
  if (globalThis.gonb_comm?.session === session) return;
  globalThis.gonb_comm?.close?.();

  const page = unique();
  const heard = new Map(); // subscriptions
  const variables = new Map(); // by address
  let socket, isReady = false, closed = false, waiting = [];

  const subscribe = (to, callback) => { const id = Symbol(); heard.set(id, { to, callback }); return id; };
  const tell = (to, ...said) => { for (const s of [...heard.values()]) if (s.to === to) s.callback(...said); };

  // The Jupyter server says in its pages where it is.
  const url = () => {
    const config = JSON.parse(document.getElementById("jupyter-config-data")?.textContent || "{}");
    const base = config.wsUrl || config.baseUrl || document.body.dataset.baseUrl || "/";
    const url = new URL(base.replace(/\/?$/, "/") + `api/kernels/${kernel}/channels`, location.href);
    url.protocol = url.protocol.replace("http", "ws");
    if (config.token) url.searchParams.set("token", config.token);
    return url;
  };

  const post = (type, content) => {
    const id = unique();
    const header = { msg_id: id, msg_type: type, session: page, username: "page", version: "5.4", date: new Date().toISOString() };
    socket.send(JSON.stringify({ header, parent_header: {}, metadata: {}, content: { comm_id: session, ...content }, channel: "shell", buffers: [] }));
  };
  const value = (address, value) => post("comm_msg", { data: { address, value } });

  const connect = () => {
    if (closed) return;
    socket = new WebSocket(url());
    const open = () => {
      if (isReady || socket.readyState !== WebSocket.OPEN) return;
      post("comm_open", { target_name: "gonb_comm", data: {} });
      setTimeout(open, 2000); // the server may not yet have been connected to the kernel
    };
    socket.onopen = open;
    socket.onclose = () => { isReady = false; setTimeout(connect, 2000); };
    socket.onmessage = event => {
      if (typeof event.data !== "string" || !event.data.includes(session)) return;
      const message = JSON.parse(event.data);
      if (message.content?.comm_id !== session) return;
      if (message.msg_type === "comm_close") gonb_comm.close();
      if (message.msg_type === "comm_msg") receive(message.content.data ?? {});
    };
  };

  const receive = data => {
    if (data.address === "#comm_open_ack") {
      if (isReady) return;
      isReady = true;
      value("#ready", true);
      for (const [a, v] of waiting) value(a, v);
      waiting = [];
    } else if (data.read_request) {
      if (variables.has(data.address)) gonb_comm.send(data.address, variables.get(data.address).get());
    } else {
      tell(data.address, data.address, data.value);
    }
  };

  // A Variable has one value in the page and in the program.
  class Variable {
    #address; #value = null;
    constructor(address) {
      this.#address = address;
      subscribe(address, (_, v) => this.#take(v));
    }
    #take(v) {
      if (v === this.#value) return false;
      this.#value = v;
      tell(this, v);
      return true;
    }
    get() { return this.#value; }
    set(v) { if (this.#take(v)) gonb_comm.send(this.#address, v); }
    subscribe(callback) { return subscribe(this, callback); }
    unsubscribe(id) { heard.delete(id); }
  }

  const gonb_comm = globalThis.gonb_comm = {
    session,
    send(address, v) { if (isReady) value(address, v); else waiting.push([address, v]); },
    subscribe,
    unsubscribe(id) { heard.delete(id); },
    newSyncedVariable(address, v) {
      if (!variables.has(address)) variables.set(address, new Variable(address));
      variables.get(address).set(v);
      return variables.get(address);
    },
    close() {
      closed = true;
      if (globalThis.gonb_comm === gonb_comm) delete globalThis.gonb_comm;
      socket?.close();
    },
  };
  connect();
})();
