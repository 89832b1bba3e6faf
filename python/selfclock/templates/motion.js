"use strict";
// The replay of a packet record: a canvas with the network and its packets, a strip with windows and a queue, controls.
// All times are ticks since the origin of the record until they are shown.
(() => {
  const NEVER = 2 ** 32 - 1, BLOCK = 256;
  const FORWARDED = 0, DROPPED = 1, LOST = 2, DELIVERED = 3;
  const BACK = 1, AGAIN = 2, DATA = 4;
  const SPEEDS = [1000, 500, 200, 100, 50, 20, 10, 5, 2, 1];
  // Pixels: of a row of hosts, around a node.
  const ROW = 30, ROOM = 15;
  // Queues that never held more packets have no box, nor do those of hosts.
  const LEAST_QUEUE = 3;
  // Seconds of real time for which a dropped packet falls.
  const FALL = 0.6;

  const root = document.documentElement;
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  const unpack = async (text) => {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
  };

  // The record: columns, and the state at any time.
  class Record {
    constructor(document, buffer) {
      Object.assign(this, document);
      let offset = 0;
      const column = {};
      for (const [name, kind, length] of document.columns) {
        const type = { Uint32Array, Uint16Array, Uint8Array }[kind];
        column[name] = new type(buffer.slice(offset, offset += length * type.BYTES_PER_ELEMENT));
      }
      Object.assign(this, { edge: column.edge, fate: column.fate });
      // Properties of the packet, repeated for each hop.
      for (const name of ["number", "marked", "size", "group", "look", "kind"]) this[name] = column[name].constructor.from(column.packet, (row) => column[name][row]);
      const count = this.count = column.enter.length;
      for (const name of ["enter", "start", "sent", "arrive", "leave"]) this[name] = new Float64Array(count);
      this.last = new Float64Array(Math.ceil(count / BLOCK));
      for (let i = 0, at = 0; i < count; i++) {
        this.enter[i] = at += column.enter[i];
        this.start[i] = at + column.start[i];
        this.sent[i] = this.start[i] + column.sent[i];
        this.arrive[i] = this.start[i] + column.arrive[i];
        this.leave[i] = this.arrive[i] + column.leave[i];
        this.last[Math.floor(i / BLOCK)] = Math.max(this.last[Math.floor(i / BLOCK)], this.leave[i]);
      }
      this.from = (document.begin - document.origin) / document.tick;
      this.until = (document.end - document.origin) / document.tick;
      const ends = (fate) => this.groups.map((_, group) => Float64Array.from(
        [...this.leave.keys()].filter((i) => this.fate[i] === fate && this.group[i] === group && this.carriesData(i)),
        (i) => this.leave[i]).sort());
      [this.deliveries, this.drops, this.losses] = [DELIVERED, DROPPED, LOST].map(ends);
    }
    carriesData(i) { return this.look[i] & DATA; }
    seconds(t) { return this.origin + t * this.tick; }
    ticks(seconds) { return (seconds - this.origin) / this.tick; }
    // Calls `visit` with each hop that began by `t` and did not end before `t - grace`.
    each(t, grace, visit) {
      for (let block = 0; block * BLOCK < this.count && this.enter[block * BLOCK] <= t; block++) {
        if (this.last[block] <= t - grace) continue;
        const end = Math.min((block + 1) * BLOCK, this.count);
        for (let i = block * BLOCK; i < end && this.enter[i] <= t; i++) if (this.leave[i] > t - grace) visit(i);
      }
    }
    phase(i, t) {
      if (t < this.start[i]) return "waiting";
      if (this.fate[i] === DROPPED) return "fallen";
      if (t < this.arrive[i]) return "flying";
      if (this.fate[i] === LOST) return "fallen";
      return t < this.leave[i] ? "held" : "gone";
    }
    static upTo(times, t) {
      let low = 0, high = times.length;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (times[middle] <= t) low = middle + 1; else high = middle;
      }
      return low;
    }
    count_of(lists, t) { return lists.map((times) => Record.upTo(times, t)); }
    // Packets in each queue and on each link, and data packets delivered, dropped and lost of each group of flows.
    state(t) {
      const state = { waiting: this.edges.map(() => 0), flying: this.edges.map(() => 0),
        delivered: this.count_of(this.deliveries, t), dropped: this.count_of(this.drops, t), lost: this.count_of(this.losses, t) };
      this.each(t, 0, (i) => {
        const phase = this.phase(i, t);
        if (phase in state) state[phase][this.edge[i]]++;
      });
      return state;
    }
    // Times of all packet events and queue changes.
    get moments() {
      return this.known ??= Float64Array.from(new Set([...this.enter, ...this.start, ...this.arrive, ...this.leave]
        .filter((t) => t >= this.from && t <= this.until))).sort();
    }
    // The events at a time, in words.
    told(t) {
      const words = [];
      this.each(t, 1, (i) => {
        const link = this.edges[this.edge[i]].name, flow = this.groups[this.group[i]].name;
        const what = `${flow}: ${this.look[i] & AGAIN ? "retransmitted " : ""}${this.words[this.kind[i]]} ${this.number[i]}`;
        if (this.fate[i] === DROPPED) { if (this.start[i] === t) words.push(`${what} dropped at ${link}`); }
        else if (this.fate[i] === LOST && this.arrive[i] === t) words.push(`${what} lost on ${link}`);
        else if (this.fate[i] === DELIVERED && this.leave[i] === t) words.push(`${what} delivered`);
        else if (this.start[i] === t) words.push(`${what} starts on ${link}`);
        else if (this.enter[i] === t) words.push(`${what} enters the queue of ${link}`);
        else if (this.arrive[i] === t) words.push(`${what} arrives from ${link}`);
      });
      return words;
    }
    // Length of an edge's queue at its changes.
    queue(edge) {
      const comes = [], goes = [];
      for (let i = 0; i < this.count; i++)
        if (this.edge[i] === edge && this.start[i] > this.enter[i]) { comes.push(this.enter[i]); goes.push(this.start[i]); }
      goes.sort((a, b) => a - b);
      const times = [this.from], lengths = [0];
      for (let a = 0, b = 0; a < comes.length || b < goes.length;) {
        const t = Math.min(comes[a] ?? Infinity, goes[b] ?? Infinity);
        if (t > this.until) break;
        while (comes[a] === t) a++;
        while (goes[b] === t) b++;
        times.push(t);
        lengths.push(a - b);
      }
      return { times, lengths };
    }
  }

  // The layout of a canvas of this width.
  class Scene {
    constructor(record, width) {
      this.record = record;
      const names = record.places.filter((place) => place.kind !== "router").map((place) => place.name.length);
      this.letters = Math.min(Math.max(...names, 4), width > 560 ? 18 : 8);
      const margin = 26 + 6.6 * this.letters;
      const bends = record.edges.map((edge) => edge.bend);
      this.step = (width - 2 * margin) / Math.max(record.extent[0], 0.6);
      // Pixels between a cable and its lanes, and of a packet of 1500 B across.
      [this.lane, this.thick] = width > 700 ? [9, 12] : [6, 8.5];
      // Room above the first row for a queue box and its number.
      const needed = record.edges.filter((edge) => this.boxed(edge)).map((edge) => this.lane + 2.5 * this.thick + 22 -
        ROW * Math.min(record.places[edge.a].y, record.places[edge.b].y));
      const top = Math.max(24, ...needed, 24 - ROW * Math.min(0, ...bends));
      this.height = top + record.extent[1] * ROW + 44 + ROW * Math.max(0, ...bends);
      this.width = width;
      this.spots = record.places.map((place) => [margin + place.x * this.step, top + place.y * ROW]);
      this.ways = record.edges.map((edge) => this.way(edge));
    }
    boxed(edge) { return edge.most >= LEAST_QUEUE && this.record.places[edge.a].kind === "router"; }
    // A lane of a cable, on the left in its direction. `at` maps a distance in pixels to a position.
    way(edge) {
      const [[ax, ay], [bx, by]] = [this.spots[edge.a], this.spots[edge.b]];
      const [mx, my] = [(ax + bx) / 2, (ay + by) / 2 + edge.bend * ROW];
      const points = [];
      for (let n = 0, steps = edge.bend ? 24 : 1; n <= steps; n++) {
        const u = n / steps, control = 2 * u * (1 - u);
        points.push([ax + (bx - ax) * u + control * 2 * (mx - (ax + bx) / 2), ay + (by - ay) * u + control * 2 * (my - (ay + by) / 2)]);
      }
      const reach = [0];
      for (let n = 1; n < points.length; n++)
        reach.push(reach[n - 1] + Math.hypot(points[n][0] - points[n - 1][0], points[n][1] - points[n - 1][1]));
      const length = reach.at(-1), tank = this.boxed(edge) ? Math.min(180, length * 0.4) : 0;
      const at = (pixels, aside = this.lane) => {
        let n = 1;
        while (n < reach.length - 1 && reach[n] < pixels) n++;
        const [x0, y0] = points[n - 1], [x1, y1] = points[n], span = Math.max(reach[n] - reach[n - 1], 1e-9);
        const [dx, dy] = [(x1 - x0) / span, (y1 - y0) / span], more = pixels - reach[n - 1];
        return [x0 + dx * more + dy * aside, y0 + dy * more - dx * aside, Math.atan2(dy, dx)];
      };
      const start = Math.min(ROOM + (tank ? tank + 4 : 0), length / 2), end = Math.max(length - ROOM, length / 2);
      return { points, length, tank, at, start, end };
    }
  }

  class Player {
    constructor(place) {
      this.place = place;
      const find = (name) => place.querySelector(name);
      this.canvas = find(".motion-scene");
      this.strip = find(".motion-strip");
      this.slider = find("input[type=range]");
      this.play = find(".motion-play");
      this.clock = find("output");
      this.told = find(".motion-told");
      this.speeds = find("select");
      this.counts = [...place.querySelectorAll(".motion-counts li span")];
    }
    async load() {
      const text = (name) => this.place.querySelector(name).textContent;
      const [words, numbers] = await Promise.all([unpack(text(".motion-document")), unpack(text(".motion-columns"))]);
      this.record = new Record(JSON.parse(new TextDecoder().decode(words)), numbers);
      const { record } = this;
      this.queues = record.edges.map((edge, index) => ({ edge, index })).filter(({ edge }) => edge.most >= LEAST_QUEUE)
        .sort((a, b) => (record.places[a.edge.a].kind !== "router") - (record.places[b.edge.a].kind !== "router") || b.edge.most - a.edge.most).slice(0, 1).map((one) => ({ ...one, ...record.queue(one.index) }));
      const wanted = record.rtt > 0 ? 3 / record.rtt : 30 / (record.end - record.begin);
      for (const speed of SPEEDS) this.speeds.add(new Option(speed === 1 ? "real time" : `1/${speed}`, String(speed)));
      this.speeds.value = String(SPEEDS.reduce((a, b) => Math.abs(Math.log(a / wanted)) < Math.abs(Math.log(b / wanted)) ? a : b));
      // The first picture shows a busy moment; playing starts at the beginning.
      this.fresh = true;
      this.t = this.busiest();
      this.listen();
      this.resize();
      this.place.dataset.drawn = "yes";
    }
    busiest() {
      const { record } = this;
      const counts = Array.from({ length: 120 }, (_, n) => {
        const t = record.from + (record.until - record.from) * n / 120;
        let count = 0;
        record.each(t, 0, () => count++);
        return [t, count];
      });
      const most = Math.max(...counts.map(([, count]) => count));
      return counts.find(([, count]) => count >= 0.7 * most)[0];
    }
    get speed() { return 1 / Number(this.speeds.value); }
    listen() {
      const click = (name, act) => this.place.querySelector(name).addEventListener("click", act);
      click(".motion-play", () => this.toggle());
      click(".motion-back", () => this.step(-1));
      click(".motion-on", () => this.step(1));
      this.slider.addEventListener("input", () => this.go(this.record.from + (this.record.until - this.record.from) * this.slider.value / 1000));
      const scrub = (event) => {
        if (event.type !== "pointerdown" && !(event.buttons & 1)) return;
        this.go(this.time(event.offsetX));
      };
      for (const kind of ["pointerdown", "pointermove"]) this.strip.addEventListener(kind, scrub);
      this.place.addEventListener("keydown", (event) => this.key(event));
      this.speeds.addEventListener("change", () => this.draw());
      new ResizeObserver(() => this.resize()).observe(this.place);
      new MutationObserver(() => this.draw()).observe(root, { attributeFilter: ["data-theme"] });
      addEventListener("beforeprint", () => { this.printing = true; this.draw(); });
      addEventListener("afterprint", () => { this.printing = false; this.draw(); });
    }
    key(event) {
      if (event.target === this.speeds || event.ctrlKey || event.metaKey || event.altKey) return;
      const { record } = this, far = (record.until - record.from) / 100;
      const act = {
        " ": () => this.toggle(),
        ArrowRight: () => event.shiftKey ? this.go(this.t + far) : this.step(1),
        ArrowLeft: () => event.shiftKey ? this.go(this.t - far) : this.step(-1),
        ArrowUp: () => this.faster(1), ArrowDown: () => this.faster(-1),
        Home: () => this.go(record.from), End: () => this.go(record.until),
      }[event.key];
      if (!act || (event.key === " " && event.target.closest("button:not(.motion-play)"))) return;
      event.preventDefault();
      act();
    }
    faster(by) {
      this.speeds.selectedIndex = Math.min(Math.max(this.speeds.selectedIndex + by, 0), SPEEDS.length - 1);
      this.draw();
    }
    go(t) {
      this.fresh = false;
      this.t = Math.min(Math.max(t, this.record.from), this.record.until);
      this.told.textContent = "";
      this.draw();
    }
    // Goes to the next or previous packet event.
    step(by) {
      this.stop();
      const { moments } = this.record;
      const next = Record.upTo(moments, this.t), here = moments[next - 1] === this.t;
      const index = by > 0 ? next : next - (here ? 2 : 1);
      if (index < 0 || index >= moments.length) return;
      this.go(moments[index]);
      const words = this.record.told(this.t);
      this.told.textContent = words.slice(0, 3).join("; ") + (words.length > 3 ? `; and ${words.length - 3} more` : "");
    }
    toggle() {
      if (this.running) return this.stop();
      if (this.fresh || this.t >= this.record.until) this.go(this.record.from);
      this.running = true;
      this.play.textContent = "Pause";
      this.told.textContent = "";
      let before = performance.now();
      const frame = (now) => {
        if (!this.running) return;
        // With reduced motion the picture changes twice a second.
        if (!calm.matches || now - before >= 500) {
          const passed = Math.min(now - before, calm.matches ? 600 : 100) / 1000;
          before = now;
          this.t = Math.min(this.t + passed * this.speed / this.record.tick, this.record.until);
          this.draw();
        }
        if (this.t >= this.record.until) this.stop();
        else requestAnimationFrame(frame);
      };
      requestAnimationFrame(frame);
    }
    stop() {
      this.running = false;
      this.play.textContent = "Play";
    }
    resize() {
      const width = this.canvas.parentElement.clientWidth;
      if (!width || !this.record) return;
      if (this.scene?.width !== width) this.scene = new Scene(this.record, width);
      const sized = (canvas, height) => {
        const ratio = Math.max(devicePixelRatio, 2);
        if (canvas.width === Math.round(width * ratio) && canvas.height === Math.round(height * ratio)) return;
        canvas.width = Math.round(width * ratio);
        canvas.height = Math.round(height * ratio);
        canvas.style.height = `${height}px`;
      };
      sized(this.canvas, this.scene.height);
      sized(this.strip, 26 + 74 * this.panels.length);
      this.draw();
    }
    get panels() {
      const windows = this.record.groups.filter((group) => group.window);
      return [...(windows.length ? ["window"] : []), ...this.queues.map(() => "queue")];
    }

    draw() {
      if (!this.record) return;
      const { record } = this;
      const style = getComputedStyle(root), paint = (name, or) => (this.printing ? or : style.getPropertyValue(name).trim()) || or;
      this.ink = paint("--text", "#1b1b1b");
      this.paper = paint("--paper", "#ffffff");
      this.soft = paint("--line", "#cccccc");
      this.drawScene();
      this.drawStrip();
      const fraction = (this.t - record.from) / (record.until - record.from);
      this.slider.value = String(Math.round(fraction * 1000));
      this.clock.textContent = `${record.seconds(this.t).toFixed(6)} s`;
      const [delivered, dropped, lost] = [record.deliveries, record.drops, record.losses].map((lists) => record.count_of(lists, this.t));
      this.counts.forEach((place, group) => {
        const gone = dropped[group] + lost[group];
        place.textContent = `${delivered[group].toLocaleString("en")} delivered${gone ? `, ${gone.toLocaleString("en")} lost` : ""}`;
      });
    }
    context(canvas) {
      const context = canvas.getContext("2d"), ratio = canvas.width / this.scene.width;
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      context.clearRect(0, 0, canvas.width, canvas.height);
      context.font = `${this.scene.width > 700 ? 13 : 12}px system-ui, sans-serif`;
      return context;
    }
    // Black is also an algorithm's colour; in dark mode it becomes the text colour.
    colour(i) { return this.tint(this.record.groups[this.record.group[i]].colour); }
    tint(colour) { return colour === "#000000" ? this.ink : colour; }

    drawScene() {
      const { record, scene, t } = this, c = this.context(this.canvas);
      scene.ways.forEach((way, index) => {
        c.strokeStyle = this.soft;
        c.lineWidth = 2;
        c.beginPath();
        const steps = way.points.length > 2 ? 24 : 1;
        for (let n = 0; n <= steps; n++) {
          const [x, y] = way.at(ROOM + (way.length - 2 * ROOM) * n / steps);
          if (n) c.lineTo(x, y); else c.moveTo(x, y);
        }
        c.stroke();
        this.label(c, record.edges[index], way);
      });
      const grace = FALL * this.speed / record.tick, waiting = scene.ways.map(() => []), held = record.places.map(() => 0);
      const falling = [];
      record.each(t, grace, (i) => {
        switch (record.phase(i, t)) {
          case "waiting": waiting[record.edge[i]].push(i); break;
          case "flying": this.packet(c, i); break;
          case "held": held[record.edges[record.edge[i]].b]++; break;
          case "fallen": falling.push(i); break;
        }
      });
      waiting.forEach((packets, edge) => this.tank(c, edge, packets));
      record.places.forEach((place, index) => this.node(c, place, scene.spots[index], held[index]));
      for (const i of falling) this.fall(c, i, (t - record.leave[i]) / grace);
    }
    words(c, text, x, y, align = "center", colour = this.ink) {
      c.textAlign = align;
      c.lineJoin = "round";
      c.lineWidth = 3;
      c.strokeStyle = this.paper;
      c.strokeText(text, x, y);
      c.fillStyle = colour;
      c.fillText(text, x, y);
    }
    // Rate and delay at links between routers, where there is room.
    label(c, edge, way) {
      const places = this.record.places;
      if (places[edge.a].kind !== "router" || places[edge.b].kind !== "router") return;
      const room = way.end - way.start - 8;
      if (c.measureText(edge.about).width > room) return;
      const [x, y] = way.at((way.start + way.end) / 2, this.scene.lane + 16);
      this.words(c, edge.about, x, y + 4);
    }
    bar(c, [x, y, angle], length, thick, i) {
      const { record } = this;
      c.save();
      c.translate(x, y);
      c.rotate(angle);
      c.fillStyle = this.colour(i);
      c.globalAlpha = record.look[i] & BACK ? 0.8 : 1;
      c.beginPath();
      c.roundRect(-length, -thick / 2, length, thick, Math.min(2, thick / 2, length / 2));
      c.fill();
      c.globalAlpha = 1;
      if (record.look[i] & AGAIN) {
        c.strokeStyle = this.ink;
        c.lineWidth = 1.8;
        c.stroke();
      }
      if (record.marked[i] <= this.t) {
        c.fillStyle = this.ink;
        c.beginPath();
        c.moveTo(-length / 2, -thick / 2 - 1.5);
        c.lineTo(-length / 2 - 3.5, -thick / 2 - 7);
        c.lineTo(-length / 2 + 3.5, -thick / 2 - 7);
        c.fill();
      }
      c.restore();
    }
    thickness(i) { return this.scene.thick * (0.4 + 0.6 * Math.min(this.record.size[i], 1500) / 1500); }
    // From its last bit to its first, with a minimum visible length.
    packet(c, i) {
      const { record, scene, t } = this, way = scene.ways[record.edge[i]];
      const [start, sent, arrive] = [record.start[i], record.sent[i], record.arrive[i]];
      const delay = arrive - sent, wire = way.end - way.start;
      const reach = (since) => Math.min(1, Math.max(0, delay > 0 ? (t - since) / delay : (t - start) / Math.max(arrive - start, 1)));
      const head = reach(start) * wire, tail = delay > 0 ? reach(sent) * wire : head;
      const least = this.thickness(i) * 1.2;
      const length = Math.max(Math.min(head, wire) - tail, least);
      this.bar(c, way.at(way.start + Math.max(head, Math.min(length, wire))), length, this.thickness(i), i);
    }
    tank(c, edge, packets) {
      const { record, scene } = this, way = scene.ways[edge], { limit, unit, most } = record.edges[edge];
      if (!way.tank) {
        const [x, y] = way.at(ROOM + 4, scene.lane + 12);
        if (packets.length) this.words(c, `${packets.length}`, x, y + 4);
        return;
      }
      // A packet's share of the limit, and the capacity of the box.
      const takes = (i) => unit === "B" ? record.size[i] : 1;
      const shown = limit && limit <= 20 * most * (unit === "B" ? 1500 : 1), room = shown ? limit : Math.max(most, 10);
      packets.sort((a, b) => record.start[a] - record.start[b] || a - b);
      const thick = 2 * scene.thick, inner = way.tank - 2;
      const [x, y, angle] = way.at(ROOM + way.tank, scene.lane + scene.thick / 2 + 2 + thick / 2);
      c.save();
      c.translate(x, y);
      c.rotate(angle);
      let at = -1, sum = 0;
      for (const i of packets) {
        const slice = inner * (shown ? takes(i) : 1) / room, clear = slice > 3 ? 0.8 : -0.15;
        at -= slice;
        sum += takes(i);
        c.fillStyle = this.colour(i);
        c.fillRect(at, -thick / 2 + 1, slice - clear, thick - 2);
        if (slice > 2 && record.look[i] & AGAIN) {
          c.strokeStyle = this.ink;
          c.lineWidth = 1.2;
          c.strokeRect(at + 0.6, -thick / 2 + 1.6, slice - 1.8, thick - 3.2);
        }
        if (slice > 2 && record.marked[i] <= this.t) {
          c.fillStyle = this.ink;
          c.fillRect(at, -thick / 2 - 2, slice - clear, 3);
        }
      }
      c.strokeStyle = this.ink;
      c.lineWidth = 1.2;
      c.setLineDash(shown ? [] : [3, 3]);
      c.beginPath();
      c.moveTo(-way.tank, -thick / 2);
      c.lineTo(0, -thick / 2);
      c.lineTo(0, thick / 2);
      c.lineTo(-way.tank, thick / 2);
      if (shown) c.closePath();
      c.stroke();
      c.restore();
      const [tx, ty] = way.at(ROOM + way.tank / 2, scene.lane + scene.thick / 2 + thick + 14);
      const kilobytes = (bytes) => (bytes / 1000).toFixed(bytes < 10_000 ? 1 : 0);
      this.words(c, !limit ? `${packets.length}` : unit === "B" ? `${kilobytes(sum)} / ${kilobytes(limit)} kB` : `${sum} / ${limit}`, tx, ty + 4);
    }
    fall(c, i, part) {
      const { record, scene } = this, way = scene.ways[record.edge[i]];
      const lost = record.fate[i] === LOST;
      const delay = Math.max(record.arrive[i] - record.start[i], 1);
      const [x, y] = lost ? way.at(way.start + (way.end - way.start) * Math.min(0.5, (record.arrive[i] - record.start[i]) / delay * 0.2))
        : way.at(ROOM + 4, scene.lane + 14);
      c.globalAlpha = Math.max(1 - part, 0);
      const drop = calm.matches ? 0 : 46 * part * part;
      this.bar(c, [x + 5 + (calm.matches ? 0 : 8 * part), y + drop, calm.matches ? 0 : 2.4 * part], 10, this.thickness(i), i);
      c.strokeStyle = this.ink;
      c.lineWidth = 1.6;
      c.globalAlpha = Math.max(1 - part, 0);
      c.beginPath();
      for (const sign of [1, -1]) {
        c.moveTo(x - 4, y + drop - 4 * sign);
        c.lineTo(x + 4, y + drop + 4 * sign);
      }
      c.stroke();
      c.globalAlpha = 1;
    }
    node(c, place, [x, y], held) {
      const { scene } = this;
      // Elide the middle: names differ at their ends.
      const cut = (text, letters) => text.length <= letters ? text : `${text.slice(0, Math.max(letters - 3, 1))}…${text.slice(-2)}`;
      const ball = (shift) => {
        c.beginPath();
        c.arc(x + shift, y - shift, 8, 0, 7);
        c.fill();
        c.stroke();
      };
      c.fillStyle = this.paper;
      c.strokeStyle = this.ink;
      c.lineWidth = 1.4;
      if (place.kind === "router") {
        c.beginPath();
        c.roundRect(x - 11, y - 11, 22, 22, 5);
        c.fill();
        c.moveTo(x - 6, y - 6);
        c.lineTo(x + 6, y + 6);
        c.moveTo(x + 6, y - 6);
        c.lineTo(x - 6, y + 6);
        c.stroke();
        this.words(c, cut(place.name, Math.max(Math.floor(scene.step / 6.6) - 1, 6)), x, y + 26);
      } else {
        if (place.kind === "bundle") ball(4);
        c.fillStyle = this.paper;
        c.strokeStyle = this.ink;
        c.lineWidth = 1.4;
        ball(0);
        const left = place.x === 0 || (place.x !== this.record.extent[0] && (place.x + 0.4) % 1 > 0.5);
        const beside = place.x === 0 || place.x === this.record.extent[0];
        const letters = beside ? scene.letters : Math.min(scene.letters, Math.max(Math.floor((scene.step - 30) / 6.6), 4));
        this.words(c, cut(place.name, letters), x + (left ? -14 : 14 + (place.kind === "bundle" ? 4 : 0)), y + 4, left ? "right" : "left");
      }
      if (held) this.words(c, `${held} held`, x, y - 16);
    }

    // Pixels of the strip.
    get frame() { return { left: 46, right: this.scene.width - 12 }; }
    time(x) {
      const { left, right } = this.frame;
      return this.record.from + (this.record.until - this.record.from) * (x - left) / (right - left);
    }
    drawStrip() {
      const { record } = this, c = this.context(this.strip), { left, right } = this.frame;
      const x = (t) => left + (right - left) * (t - record.from) / (record.until - record.from);
      this.panels.forEach((panel, index) => {
        const top = 18 + index * 74, bottom = top + 52;
        const [queue] = this.queues;
        const lines = panel === "window"
          ? record.groups.filter((group) => group.window).map((group) => ({ colour: this.tint(group.colour),
            times: group.window[0].map((s) => record.ticks(s)), values: group.window[1] }))
          : [{ colour: this.ink, times: queue.times, values: queue.lengths, step: true }];
        const high = Math.max(1, ...lines.map((line) => line.values.reduce((a, b) => Math.max(a, b), 0)));
        const y = (value) => bottom - (bottom - top) * value / high;
        c.strokeStyle = this.soft;
        c.lineWidth = 1;
        c.strokeRect(left, top, right - left, bottom - top);
        this.words(c, panel === "window" ? `${record.quantity} (segments)` : `queue of ${queue.edge.name} (packets)`, left + 2, top - 5, "left");
        this.words(c, high.toFixed(high < 10 && high % 1 ? 1 : 0), left - 4, top + 9, "right");
        this.words(c, "0", left - 4, bottom, "right");
        for (const line of lines) this.curve(c, line, x, y);
      });
      const bottom = 18 + this.panels.length * 74 - 22;
      for (let n = 0; n <= 4; n++) {
        const t = record.from + (record.until - record.from) * n / 4;
        this.words(c, `${Number(record.seconds(t).toPrecision(4))}${n === 4 ? " s" : ""}`, x(t), bottom + 16, n === 4 ? "right" : n ? "center" : "left");
      }
      c.strokeStyle = this.ink;
      c.lineWidth = 1.6;
      c.beginPath();
      c.moveTo(x(this.t), 14);
      c.lineTo(x(this.t), bottom);
      c.stroke();
    }
    // A line through the maximum of each pixel column.
    curve(c, { colour, times, values, step }, x, y) {
      c.strokeStyle = colour;
      c.lineWidth = 1.4;
      c.beginPath();
      let column = -Infinity, most = 0, before = y(values[0] ?? 0);
      times.forEach((t, n) => {
        const at = Math.floor(x(t) * 2) / 2;
        most = at === column ? Math.max(most, values[n]) : values[n];
        if (!n) c.moveTo(x(t), y(most));
        else {
          if (step && at !== column) c.lineTo(x(t), before);
          c.lineTo(x(t), y(most));
        }
        before = y(values[n]);
        column = at;
      });
      c.stroke();
    }
  }

  const load = (place) => {
    const player = new Player(place);
    place.player = player;
    return player.load().catch((error) => {
      player.told.textContent = "This browser cannot show the replay; use one from 2023 or later.";
      throw error;
    });
  };
  const watcher = new IntersectionObserver((entries) => {
    for (const entry of entries.filter((one) => one.isIntersecting)) {
      watcher.unobserve(entry.target);
      load(entry.target);
    }
  }, { rootMargin: "400px" });
  for (const place of document.querySelectorAll(".motion")) watcher.observe(place);
  addEventListener("beforeprint", () => {
    for (const place of document.querySelectorAll(".motion:not([data-drawn])")) if (!place.player) load(place);
  });
})();
