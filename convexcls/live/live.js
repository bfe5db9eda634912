// The drawing of convexcls live: points that can be dragged, with the answer beside them.
//
// One module, three homes: the page of the server (`page`), a widget of notebooks (the default export), and recorded
// walks in the documentation (`replay`). All it knows of the world is ask(state) -> Promise of an answer, by the schemas
// convexcls-state/1 and convexcls-picture/1. Whatever comes with the data is text: no markup is ever parsed.

const SVG = "http://www.w3.org/2000/svg";
const MATHML = "http://www.w3.org/1998/Math/MathML";
const SCHEMA = "convexcls-state/1";
const MAX_POINTS = 500;
// Widths of the picture in its own units: sizes of letters and points stay readable on a phone.
const WIDE = 760, NARROW = 420, NARROW_BELOW = 540;
const EDGE = { left: 44, right: 12, top: 12, bottom: 34 };
const LARGEST_DISC = 26, POINT = 7;
// The KKT bars run over these powers of ten.
const LEAST_POWER = -17, LARGEST_POWER = 1;
// What is told to a screen reader waits until the points rest, in milliseconds; likewise the address.
const REST = 500;
const CLASS_WORDS = ["circle", "square", "triangle"];

// ---- elements -----------------------------------------------------------------------------------------

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") node.addEventListener(name, value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}

const html = (name, attributes, ...children) => filled(document.createElement(name), attributes, children);
const svg = (name, attributes, ...children) => filled(document.createElementNS(SVG, name), attributes, children);

const MATH_ELEMENTS = new Set(("math mrow mi mn mo mtext mspace msub msup msubsup munder mover munderover mfrac msqrt "
  + "mroot mtable mtr mtd mstyle mpadded mphantom menclose").split(" "));
const MATH_ATTRIBUTES = new Set(("display displaystyle scriptlevel stretchy lspace rspace width height depth fence form "
  + "separator minsize maxsize accent accentunder mathvariant columnalign movablelimits symmetric largeop").split(" "));
const MATH_STYLES = new Set(["text-align", "justify-items", "padding-left", "padding-right"]);

/** A formula of nested lists as elements; names that are no MathML leave only their text. */
function math(tree) {
  if (typeof tree === "string") return document.createTextNode(tree);
  const [name, attributes, ...children] = tree;
  const known = MATH_ELEMENTS.has(name);
  const node = known ? document.createElementNS(MATHML, name) : document.createElement("span");
  for (const [key, value] of Object.entries(known ? attributes : {})) {
    if (MATH_ATTRIBUTES.has(key)) node.setAttribute(key, value);
    if (key !== "style") continue;
    for (const rule of value.split(";")) {
      const [property, setting] = rule.split(":").map((word) => word.trim());
      if (MATH_STYLES.has(property)) node.style.setProperty(property, setting);
    }
  }
  node.append(...children.map(math));
  return node;
}

const written = (piece) => (piece.math ? math(piece.math) : document.createTextNode(piece.text));

// ---- numbers ------------------------------------------------------------------------------------------

function short(value, digits = 6) {
  if (value === null || value === undefined) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e7 || size < 1e-4) return value.toExponential(Math.min(digits, 4) - 1).replace("-", "−");
  return String(Number(value.toPrecision(digits))).replace("-", "−");
}

const residual = (value) => (value === null ? "–" : value === 0 ? "0" : value.toExponential(1).replace("-", "−"));

/** A step of the grid on which points are put: a hundredth in a picture of usual size. */
function gridStep(frame) {
  const width = Math.max(frame[1] - frame[0], frame[3] - frame[2]);
  return 10 ** (Math.floor(Math.log10(width / 5)) - 2);
}

function snapped(value, step) {
  const digits = Math.max(0, Math.round(-Math.log10(step)));
  return digits > 15 ? value : Number((Math.round(value / step) * step).toFixed(digits));
}

function ticks(low, high, most) {
  const raw = (high - low) / most, unit = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((k) => k * unit).find((k) => k >= raw);
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const out = [];
  for (let k = Math.ceil(low / step); k * step <= high + 1e-9 * step; k++) out.push((k * step).toFixed(Math.min(digits, 12)));
  return out;
}

// ---- the picture --------------------------------------------------------------------------------------

/** Where places of the plane lie in the picture: to scale, unless that would be a strip. */
class Scale {
  constructor(frame, narrow) {
    [this.left, this.right, this.bottom, this.top] = frame;
    this.width = narrow ? NARROW : WIDE;
    const across = this.width - EDGE.left - EDGE.right;
    const ratio = (this.top - this.bottom) / (this.right - this.left);
    const usual = ratio >= 0.4 && ratio <= 1.25;
    this.height = Math.round(across * (usual ? ratio : 0.7)) + EDGE.top + EDGE.bottom;
    this.sx = across / (this.right - this.left);
    this.sy = (this.height - EDGE.top - EDGE.bottom) / (this.top - this.bottom);
  }
  x(value) { return Math.round(100 * (EDGE.left + (value - this.left) * this.sx)) / 100; }
  y(value) { return Math.round(100 * (EDGE.top + (this.top - value) * this.sy)) / 100; }
  place(px, py) {
    return [this.left + (px - EDGE.left) / this.sx, this.top - (py - EDGE.top) / this.sy];
  }
  path(line, closed = false) {
    return line.map(([x, y], k) => `${k ? "L" : "M"}${this.x(x)} ${this.y(y)}`).join("") + (closed ? "Z" : "");
  }
  area(area) { return area.map((line) => this.path(line, true)).join(""); }
}

function shape(k, size) {
  if (k === 1) return svg("rect", { x: -size * 0.9, y: -size * 0.9, width: size * 1.8, height: size * 1.8, rx: 1 });
  if (k === 2) return svg("path", { d: `M0 ${-size * 1.2}L${size * 1.15} ${size * 0.85}H${-size * 1.15}Z` });
  return svg("circle", { r: size });
}

let plots = 0;

/** The picture of one panel. `hands` says what happens to points; without it nothing can be moved. */
class Plot {
  constructor(hands) {
    this.hands = hands;
    this.marks = [];
    this.layers = {};
    const names = ["regions", "slab", "hulls", "axes", "slack", "margins", "boundary", "way", "runaway", "discs", "points", "notes"];
    this.id = `convexcls-plot-${plots++}`;
    this.clip = svg("rect", {});
    const inside = new Set(["regions", "slab", "hulls", "slack", "margins", "boundary", "way", "runaway"]);
    const clipped = (name) => (inside.has(name) ? { "clip-path": `url(#${this.id})` } : {});
    for (const name of names) this.layers[name] = svg("g", { class: name, ...clipped(name) });
    const definition = svg("defs", {}, svg("clipPath", { id: this.id }, this.clip));
    this.node = svg("svg", { class: "plot", role: hands ? "application" : "img", "aria-roledescription": "picture of points" },
      definition, ...Object.values(this.layers));
    if (hands) this.listen();
  }

  // -- hands

  listen() {
    this.node.addEventListener("pointerdown", (event) => this.down(event));
    this.node.addEventListener("pointermove", (event) => this.move(event));
    for (const name of ["pointerup", "pointercancel"]) this.node.addEventListener(name, (event) => this.up(event));
    this.node.addEventListener("keydown", (event) => this.key(event));
  }

  at(event) {
    const box = this.node.getBoundingClientRect();
    return this.scale.place((event.clientX - box.left) * this.scale.width / box.width,
      (event.clientY - box.top) * this.scale.height / box.height);
  }

  nearest(event) {
    const box = this.node.getBoundingClientRect(), unit = box.width / this.scale.width;
    const reach = event.pointerType === "touch" ? 24 : 13;
    let best = null, least = reach;
    this.state.points.forEach(([x, y], row) => {
      const far = Math.hypot(box.left + this.scale.x(x) * unit - event.clientX, box.top + this.scale.y(y) * unit - event.clientY);
      if (far <= least) [best, least] = [row, far];
    });
    return best;
  }

  down(event) {
    if (event.button !== 0 || this.held) return;
    const row = this.nearest(event);
    this.held = { row, pointer: event.pointerId, x: event.clientX, y: event.clientY, moved: false };
    this.node.setPointerCapture(event.pointerId);
    if (row !== null) {
      this.hands.select(row);
      this.marks[row].focus({ preventScroll: true });
    }
    event.preventDefault();
  }

  move(event) {
    if (!this.held || event.pointerId !== this.held.pointer) {
      if (!this.held) this.hands.hover(this.nearest(event));
      return;
    }
    const far = Math.hypot(event.clientX - this.held.x, event.clientY - this.held.y);
    if (!this.held.moved && far < 3) return;
    this.held.moved = true;
    if (this.held.row !== null) this.hands.drag(this.held.row, this.inside(this.at(event)), event.timeStamp);
  }

  up(event) {
    const held = this.held;
    if (!held || event.pointerId !== held.pointer) return;
    this.held = null;
    if (held.row !== null) {
      if (held.moved) this.hands.drop();
    } else if (!held.moved && event.type === "pointerup") this.hands.add(this.inside(this.at(event)));
  }

  inside([x, y]) {
    const { left, right, bottom, top } = this.scale;
    return [Math.min(right, Math.max(left, x)), Math.min(top, Math.max(bottom, y))];
  }

  key(event) {
    const row = this.marks.indexOf(event.target);
    if (row < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    const [x, y] = this.state.points[row], step = gridStep(this.state.frame) * (event.shiftKey ? 100 : 10);
    const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    const count = this.state.points.length;
    if (way) this.hands.nudge(row, this.inside([x + way[0] * step, y + way[1] * step]));
    else if (event.key === "PageDown" || event.key === "PageUp") this.go((row + (event.key === "PageDown" ? 1 : count - 1)) % count);
    else if (event.key === "Home" || event.key === "End") this.go(event.key === "Home" ? 0 : count - 1);
    else if (event.key === "Delete" || event.key === "Backspace") this.hands.remove(row);
    else if ("123".includes(event.key) && event.key.length === 1) this.hands.recolour(row, Number(event.key) - 1);
    else if (event.key === "a" || event.key === "Insert") this.hands.add(this.inside([x + 3 * step, y]));
    else return;
    event.preventDefault();
  }

  go(row) {
    this.hands.select(row);
    this.marks[row]?.focus();
  }

  // -- drawing

  draw(state, shown, selected, step = null) {
    const narrow = this.node.clientWidth > 0 && this.node.clientWidth < NARROW_BELOW;
    this.state = state;
    this.scale = new Scale(state.frame, narrow);
    const { width, height } = this.scale;
    this.node.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const box = { x: EDGE.left, y: EDGE.top, width: width - EDGE.left - EDGE.right, height: height - EDGE.top - EDGE.bottom };
    for (const [name, value] of Object.entries(box)) this.clip.setAttribute(name, value);
    this.drawAxes(box, narrow);
    this.drawAnswer(shown, step);
    this.drawDiscs(shown, step);
    this.drawPoints(shown, selected, step);
  }

  drawAxes(box, narrow) {
    const s = this.scale, across = ticks(s.left, s.right, narrow ? 5 : 8), up = ticks(s.bottom, s.top, narrow ? 4 : 6);
    const [first, second] = this.state.features;
    this.layers.axes.replaceChildren(
      ...across.map((t) => svg("line", { class: "grid", x1: s.x(t), x2: s.x(t), y1: box.y, y2: box.y + box.height })),
      ...up.map((t) => svg("line", { class: "grid", y1: s.y(t), y2: s.y(t), x1: box.x, x2: box.x + box.width })),
      svg("rect", { class: "frame", ...box }),
      ...across.map((t) => svg("text", { class: "tick", x: s.x(t), y: box.y + box.height + 14, "text-anchor": "middle" }, t.replace("-", "−"))),
      ...up.map((t) => svg("text", { class: "tick", x: box.x - 6, y: s.y(t) + 4, "text-anchor": "end" }, t.replace("-", "−"))),
      svg("text", { class: "name", x: box.x + box.width, y: box.y + box.height + 29, "text-anchor": "end" }, first),
      svg("text", { class: "name", x: 12, y: box.y, "text-anchor": "end", transform: `rotate(-90 12 ${box.y})` }, second));
  }

  drawAnswer(shown, step) {
    const s = this.scale, drawn = shown?.drawn, slab = drawn?.slab, hulls = shown?.hulls, runaway = shown?.runaway;
    const lines = (several, kind) => several.map((line) => svg("path", { class: kind, d: s.path(line) }));
    const areas = (several, kind) => several.map((area) => svg("path", { class: kind, d: s.area(area), "fill-rule": "evenodd" }));
    const stopped = shown?.status === "unattained" || shown?.status === "undecided" || step !== null;
    this.layers.regions.replaceChildren(...(drawn?.regions ?? []).flatMap((parts, k) => areas(parts, `region class-${this.classOf(k, drawn)}`)));
    this.layers.slab.replaceChildren(...areas(slab?.area ?? [], "slab"));
    this.layers.slack.replaceChildren(...(slab?.slack ?? []).map(({ row, segment }) => svg("path", { class: "slack", "data-row": row, d: s.path(segment) })));
    this.layers.margins.replaceChildren(...lines((slab?.margins ?? []).flat(), "margin"));
    this.layers.boundary.replaceChildren(...lines(drawn?.boundary ?? [], stopped ? "line stopped" : "line"));
    this.layers.way.replaceChildren(...lines(step?.boundary ?? [], "line step"));
    this.layers.hulls.replaceChildren(...(hulls ? this.hullMarks(hulls) : []));
    this.layers.runaway.replaceChildren(...lines(runaway?.lines ?? [], "away"), ...(runaway?.normal ? this.arrow(runaway) : []));
  }

  // Regions come by the classes that have points: of three classes on the page there may be two.
  classOf(k, drawn) {
    const present = [...new Set(this.state.points.map((point) => point[2]))].sort();
    return present.length === drawn.regions.length ? present[k] : k;
  }

  hullMarks({ corners, weights, ends, meet }) {
    const s = this.scale, out = corners.map((line, k) => svg("path", { class: `hull class-${k}`, d: s.path(line, true) }));
    if (!meet) return [...out, svg("path", { class: "nearest", d: s.path(ends) })];
    const [x, y] = [s.x(ends[0][0]), s.y(ends[0][1])];
    for (const { row } of weights) {
      const point = this.state.points[row];
      if (point) out.push(svg("path", { class: "pull", d: s.path([[point[0], point[1]], ends[0]]) }));
    }
    const star = Array.from({ length: 10 }, (_, k) => {
      const [r, turn] = [k % 2 ? 5 : 12, Math.PI * k / 5];
      return `${k ? "L" : "M"}${(x + r * Math.sin(turn)).toFixed(2)} ${(y - r * Math.cos(turn)).toFixed(2)}`;
    });
    return [...out, svg("path", { class: "meeting", d: `${star.join("")}Z` })];
  }

  arrow({ lines, normal }) {
    const line = lines[0];
    if (!line || line.length < 2) return [];
    const s = this.scale, from = line[0].map((value, k) => (value + line[line.length - 1][k]) / 2);
    const [dx, dy] = [normal[0] * s.sx, -normal[1] * s.sy], size = Math.hypot(dx, dy) || 1;
    const [x, y, ux, uy] = [s.x(from[0]), s.y(from[1]), dx / size, dy / size];
    const at = (along, aside) => `${(x + along * ux - aside * uy).toFixed(2)} ${(y + along * uy + aside * ux).toFixed(2)}`;
    return [svg("path", { class: "arrow", d: `M${at(0, 0)}L${at(56, 0)}M${at(46, -6)}L${at(58, 0)}L${at(46, 6)}` })];
  }

  drawDiscs(shown, step) {
    const discs = shown?.discs ?? null, hulls = shown?.hulls?.meet ? shown.hulls : null, out = [];
    const put = (row, share, text) => {
      const point = this.state.points[row];
      if (!point || !(share > 0)) return;
      const largest = this.scale.width === WIDE ? LARGEST_DISC : 0.7 * LARGEST_DISC;
      const r = Math.round(100 * largest * Math.sqrt(Math.min(share, 1))) / 100;
      const [cx, cy] = [this.scale.x(point[0]), this.scale.y(point[1])];
      out.push(svg("circle", { class: `disc class-${point[2]}`, "data-row": row, cx, cy, r }));
      if (text) out.push(svg("text", { class: "weight", x: cx + Math.max(r, POINT) + 3, y: cy - 7 }, text));
    };
    if (discs) {
      const values = discs.values.map((value) => Math.abs(value ?? 0));
      const largest = discs.bound ?? values.reduce((a, b) => Math.max(a, b), 0);
      values.forEach((value, row) => put(row, value > 1e-9 * largest ? value / largest : 0, ""));
    } else if (hulls) for (const { row, value, text } of hulls.weights) put(row, value, text);
    this.layers.discs.replaceChildren(...out);
    this.layers.discs.classList.toggle("faint", step !== null);
  }

  drawPoints(shown, selected, step) {
    const { points, classes } = this.state;
    while (this.marks.length > points.length) this.marks.pop().remove();
    points.forEach(([x, y, k], row) => {
      let mark = this.marks[row];
      if (!mark) {
        mark = svg("g", { role: this.hands ? "button" : null });
        this.marks.push(mark);
        this.layers.points.append(mark);
      }
      if (mark.dataset.kind !== String(k)) {
        mark.dataset.kind = k;
        mark.replaceChildren(svg("circle", { class: "target", r: 14 }), shape(k, POINT));
      }
      const chosen = row === selected, caused = step?.row === row;
      mark.setAttribute("class", `point class-${k}${chosen ? " selected" : ""}${caused ? " caused" : ""}`);
      mark.setAttribute("transform", `translate(${this.scale.x(x)} ${this.scale.y(y)})`);
      mark.setAttribute("data-row", row);
      if (!this.hands) return;
      mark.setAttribute("tabindex", chosen || (selected === null && row === 0) ? 0 : -1);
      const alpha = shown?.discs?.values[row];
      const held = alpha === null || alpha === undefined ? "" : `, ${shown.discs.symbol} ${short(alpha, 4)}`;
      mark.setAttribute("aria-label", `sample ${row}, class ${classes[k]}, at ${short(x, 4)}, ${short(y, 4)}${held}`);
    });
    this.drawNote(shown, selected);
  }

  drawNote(shown, selected) {
    const point = selected === null ? null : this.state.points[selected], discs = shown?.discs;
    if (!point) return this.layers.notes.replaceChildren();
    const value = discs?.values[selected], s = this.scale;
    const text = value === undefined || value === null ? `row ${selected}` : `${discs.symbol} = ${short(value, 4)}`;
    const [x, y] = [s.x(point[0]), s.y(point[1])], right = x > s.width - 110;
    const place = { x: x + (right ? -14 : 14), y: y < 34 ? y + 24 : y - 12, "text-anchor": right ? "end" : "start" };
    this.layers.notes.replaceChildren(svg("text", { class: "note", ...place }, text));
  }

  /** A file of its own, with the colours as they are seen. */
  file() {
    const copy = this.node.cloneNode(true);
    const kept = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-opacity", "stroke-linejoin", "opacity", "font-size", "font-family", "font-weight", "text-anchor", "visibility"];
    const [from, to] = [[this.node, ...this.node.querySelectorAll("*")], [copy, ...copy.querySelectorAll("*")]];
    from.forEach((node, k) => {
      const look = getComputedStyle(node);
      for (const name of kept) to[k].setAttribute(name, look.getPropertyValue(name));
      for (const name of ["class", "role", "tabindex", "aria-label", "aria-roledescription"]) to[k].removeAttribute(name);
    });
    const { width, height } = this.scale, paper = svg("rect", { width, height, fill: getComputedStyle(this.node).backgroundColor });
    copy.insertBefore(paper, copy.firstChild);
    copy.setAttribute("xmlns", SVG);
    copy.setAttribute("width", width);
    copy.setAttribute("height", height);
    return new XMLSerializer().serializeToString(copy);
  }
}

/** What the marks of a picture mean. */
function legend(shown, step) {
  if (!shown) return [];
  const { discs, drawn, hulls, runaway } = shown, slab = drawn?.slab, out = [];
  if (discs) out.push(`discs: ${discs.name} ${discs.symbol}, by area${discs.bound === null ? "" : `, at most ${short(discs.bound, 3)}`}`);
  else if (hulls?.meet) out.push("star: the point of both hulls", "discs: its weights, which add up to 1 in each class");
  if (slab) out.push(`dashed: margins, f = ±${short(slab.level, 3)}`);
  if (slab?.slack.length) out.push("short lines: slack");
  if (hulls && !hulls.meet) out.push("dotted: shortest way between the hulls");
  if (runaway) out.push("dashes and arrow: the direction without end", "dotted: where the solver stopped");
  if (step) out.push("strong line: the boundary at this step", "dotted: at the end");
  return out;
}

// ---- beside the picture -------------------------------------------------------------------------------

/** Both values on one line: as far from the optimum, to either side, as the logarithm of their distance. */
function valueLine(shown, step) {
  const values = step ?? shown, optimum = shown.objective;
  const node = svg("svg", { class: "values", viewBox: "0 0 360 64", role: "img" });
  const names = shown.sense === "min" ? ["primal", "dual"] : ["objective", "dual bound"];
  if (optimum === null) {
    node.append(svg("line", { class: "axis", x1: 12, x2: 348, y1: 30, y2: 30 }));
    const words = shown.status === "infeasible" ? "no feasible point: the dual grows for ever" : shown.status === "unattained"
      ? "the infimum is approached, never reached" : "no value";
    const grows = shown.status === "infeasible" ? "M338 22L350 30L338 38" : "M22 22L10 30L22 38";
    node.append(svg("path", { class: "axis", d: grows, fill: "none" }), svg("text", { x: 180, y: 54, "text-anchor": "middle" }, words));
    node.setAttribute("aria-label", words);
    return node;
  }
  const unit = 1e-9 * Math.max(Math.abs(optimum), 1e-3);
  const steps = shown.way?.steps ?? [], all = [shown, ...steps].flatMap(({ objective, dual_objective: d }) => [objective, d]);
  const far = (value) => Math.log10(1 + Math.abs(value - optimum) / unit);
  const longest = Math.max(3, ...all.filter((value) => value !== null).map(far));
  const x = (value) => 180 + Math.sign(value - optimum) * 150 * far(value) / longest;
  const mark = (value, up) => svg("path", { class: up ? "primal" : "dual", d: up ? `M${x(value)} 28l-7 -12h14z` : `M${x(value)} 32l-7 12h14z` });
  node.append(svg("line", { class: "axis", x1: 12, x2: 348, y1: 30, y2: 30 }), svg("line", { class: "axis", x1: 180, x2: 180, y1: 25, y2: 35 }));
  const { objective, dual_objective: bound } = values;
  if (objective !== null && bound !== null) node.append(svg("line", { class: "gap", x1: x(bound), x2: x(objective), y1: 30, y2: 30 }));
  const side = (value, other) => (value !== null && other !== null && Math.abs(x(value) - x(other)) > 4 ? (x(value) < x(other) ? "end" : "start") : "middle");
  const label = (value, other, up, name) => {
    const anchor = side(value, other), place = Math.min(340, Math.max(20, x(value)));
    const kept = place < 110 ? "start" : place > 250 ? "end" : anchor === "middle" ? "middle" : anchor;
    node.append(mark(value, up), svg("text", { x: place, y: up ? 11 : 58, "text-anchor": kept }, `${name} ${short(value, 8)}`));
  };
  if (objective !== null) label(objective, bound, true, names[0]);
  if (bound !== null) label(bound, objective, false, names[1]);
  node.setAttribute("aria-label", `${names[0]} ${short(objective, 8)}, ${names[1]} ${short(bound, 8)}`);
  return node;
}

function residualBars(shown, step) {
  const rows = shown.residuals.map((row) => (step && row.name in step.kkt ? { ...row, relative: step.kkt[row.name], holds: step.kkt[row.name] <= shown.tolerance, where: "" } : row));
  if (!rows.length || (step && !Object.keys(step.kkt).length)) return [];
  const place = (value) => 100 * (Math.log10(value) - LEAST_POWER) / (LARGEST_POWER - LEAST_POWER);
  const width = (value) => (value > 0 ? Math.min(100, Math.max(1, place(value))) : 0);
  const list = html("dl", { class: "kkt" });
  for (const row of rows) {
    const bar = svg("svg", { class: row.holds ? "residual holds" : "residual fails", viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true" },
      svg("rect", { class: "ground", width: 100, height: 8 }), svg("rect", { width: width(row.relative), height: 8 }),
      svg("rect", { class: "limit", x: place(shown.tolerance), width: 0.7, height: 8 }));
    const title = `${row.meaning}${row.where && row.where !== "exact" ? `; worst at ${row.where}` : ""}`;
    list.append(html("div", { title }, html("dt", {}, row.name), html("dd", {}, bar, html("span", { class: "number" }, `${residual(row.relative)} ${row.holds ? "✓" : "✗"}`))));
  }
  return [list, html("p", { class: "scale" }, `relative residuals, 1e${LEAST_POWER} to 1e${LARGEST_POWER}; the mark is the tolerance ${shown.tolerance.toExponential(0)}`.replaceAll("e-", "e−"))];
}

const signed = (text) => text.replace(/(^|[ ,(])-(?=[\d.])/g, "$1−");

/** The table of samples. Its cells are written anew while its rows stay what they are: that is a few milliseconds. */
class SampleTable {
  static key = ({ title, cut, columns, rows }) => JSON.stringify([title, cut, columns.map((c) => c.title.map((piece) => piece.text)), rows.map(({ row }) => row)]);

  constructor(samples, hands) {
    this.key = SampleTable.key(samples);
    const title = (pieces) => pieces.map((piece) => (piece.small ? html("small", {}, written(piece)) : html("span", {}, written(piece))));
    const name = (pieces) => pieces.filter((piece) => !piece.small).map((piece) => piece.text).join("");
    const head = html("tr", {}, ...samples.columns.map((c) => html("th", { scope: "col", class: c.right ? "number" : null, "data-name": name(c.title) }, ...title(c.title))));
    this.cells = samples.rows.map(({ cells }) => cells.map((_, k) => html("td", { class: samples.columns[k].right ? "number" : null })));
    const body = samples.rows.map(({ row }, k) => html("tr", row === null ? {} : {
      "data-row": row, pointerenter: () => hands?.hover(row), click: () => hands?.select(row),
    }, ...this.cells[k]));
    this.node = html("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": samples.title },
      html("table", { pointerleave: () => hands?.hover(null) }, html("caption", {}, samples.cut ? `${samples.title}. ${samples.cut}` : samples.title), html("thead", {}, head), html("tbody", {}, ...body)));
    this.write(samples);
  }

  write(samples) {
    samples.rows.forEach(({ cells }, k) => cells.forEach((cell, j) => {
      const text = signed(cell), place = this.cells[k][j];
      if (place.textContent !== text) place.textContent = text;
    }));
  }
}

function prose(lines) {
  const out = [];
  let words = [];
  const end = () => { if (words.length) out.push(html("p", {}, words.join(" "))); words = []; };
  for (const line of lines) {
    if (!line.startsWith(" ")) { words.push(line); if (line.endsWith(":")) end(); continue; }
    end();
    out.push(html("p", { class: "item" }, line.trim().replace(/ {2,}/g, "  ")));
  }
  end();
  return out;
}

function formulaParts(formulas) {
  const statements = formulas.statements.map((one) => html("figure", {}, html("figcaption", {}, one.name),
    html("div", { class: "formula", tabindex: 0, role: "region", "aria-label": `${one.name}, as a formula` }, written(one)), one.value === null ? null : html("p", { class: "now" }, "now ", html("b", {}, one.value))));
  const numbers = formulas.numbers.map((one) => html("div", {}, html("dt", {}, written(one)), html("dd", {}, one.value)));
  const conditions = formulas.conditions.map(({ name, pieces }) => html("div", {}, html("dt", {}, name), html("dd", {}, ...pieces.map(written))));
  return [...statements, numbers.length ? html("h3", {}, "The numbers now") : null, html("dl", { class: "letters" }, ...numbers),
    html("h3", {}, "KKT conditions"), html("dl", { class: "conditions" }, ...conditions)];
}

// ---- one model ----------------------------------------------------------------------------------------

const TABS = [["samples", "Samples"], ["proof", "Proof"], ["formulas", "Formulas"], ["exact", "Exact"]];

/** One model: its picture and everything beside it. */
class Panel {
  constructor(hands, choices) {
    this.hands = hands;
    this.plot = new Plot(hands);
    this.tab = "samples";
    this.step = null;
    this.controls = html("div", { class: "controls" });
    this.verdict = html("div", { class: "verdict" });
    this.values = html("div", { class: "value-line" });
    this.bars = html("div", { class: "bars" });
    this.details = html("div", { class: "details" });
    this.tabs = html("div", { class: "tabs", role: "tablist" });
    this.scrub = html("div", { class: "scrub", hidden: true });
    this.legend = html("p", { class: "legend" });
    this.node = html("article", { class: "panel" }, html("div", { class: "picture" }, this.plot.node, this.legend, this.scrub), this.verdict, choices ? this.controls : null,
      html("div", { class: "measures" }, this.values, this.bars), html("div", { class: "reading" }, this.tabs, this.details));
    this.makeScrubber();
    this.makeTabs();
  }

  makeScrubber() {
    this.range = html("input", { type: "range", min: 0, value: 0, "aria-label": "step of the solver", input: () => this.go(Number(this.range.value)) });
    this.stepName = html("output", {});
    this.player = html("button", { type: "button", click: () => this.play() }, "Play");
    this.scrub.append(this.player, this.range, this.stepName);
  }

  makeTabs() {
    this.buttons = TABS.map(([name, title]) => html("button", { type: "button", role: "tab", "data-tab": name, click: () => this.open(name),
      keydown: (event) => this.turn(event) }, title));
    this.tabs.append(...this.buttons);
  }

  turn(event) {
    const way = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!way) return;
    const there = this.buttons.filter((button) => !button.hidden), at = there.indexOf(event.target);
    const next = there[(at + way + there.length) % there.length];
    this.open(next.dataset.tab);
    next.focus();
  }

  open(tab) {
    this.tab = tab;
    this.drawDetails();
  }

  /** The answer for a state; formulas and what runs away stay as they were while a point moves. */
  show(state, shown, selected) {
    const before = this.shown;
    if (state.moving && before && !shown.refused) shown = { ...shown, formulas: shown.formulas ?? before.formulas, infinity: shown.infinity ?? null };
    if (shown.exact && !before?.exact) this.tab = "exact";
    this.state = state;
    this.shown = shown;
    const steps = shown.way?.steps ?? [];
    if (!steps.length) this.step = null;
    else this.step = this.step === null ? steps.length - 1 : Math.min(this.step, steps.length - 1);
    this.draw(selected);
  }

  get stepShown() {
    const steps = this.shown?.way?.steps ?? [];
    return this.step === null || this.step >= steps.length - 1 ? null : steps[this.step];
  }

  draw(selected) {
    this.selected = selected;
    const shown = this.shown ?? null, told = shown && !shown.refused ? shown : null;
    this.plot.draw(this.state, told, selected, this.stepShown);
    this.plot.node.setAttribute("aria-label", this.label(told));
    this.legend.textContent = legend(told, this.stepShown).join(" · ");
    this.drawVerdict(shown);
    this.values.replaceChildren(...(told ? [valueLine(told, this.stepShown)] : []));
    this.bars.replaceChildren(...(told ? residualBars(told, this.stepShown) : []));
    this.drawScrubber(told);
    this.drawDetails();
  }

  label(told) {
    const count = `${this.state.points.length} points`;
    return told ? `${told.title}. ${told.status}. ${told.equation ? `Boundary ${told.equation}.` : ""}` : count;
  }

  drawVerdict(shown) {
    if (!shown) return;
    if (shown.refused) {
      this.verdict.replaceChildren(html("p", { class: "refused" }, shown.refused));
      return;
    }
    const infinite = Object.entries(shown.infinity?.ways ?? {}).map(([name, way]) => `${name} → ${way.replace("either", "±inf").replace("inf", "∞").replace("-", "−")}`);
    const badge = html("strong", { class: `badge ${shown.status}` }, html("span", { "aria-hidden": "true" }, `${shown.sign} `), shown.status);
    const gap = shown.gap === null ? "" : `gap ${residual(shown.relative_gap)}`;
    const margin = shown.hulls && !shown.hulls.meet ? `width of the slab ${short(shown.hulls.distance, 5)}` : shown.hulls ? "the hulls share the star" : "";
    const facts = [shown.equation.replaceAll("- ", "− ").replace(/^-/, "−"), margin, infinite.join(", "), gap, shown.seconds ? `${shown.solver}, ${(1000 * shown.seconds).toFixed(0)} ms` : shown.solver].filter(Boolean);
    this.verdict.replaceChildren(html("p", {}, badge, html("span", { class: "meaning" }, shown.meaning)), html("p", { class: "facts" }, facts.join(" · ")));
  }

  drawScrubber(told) {
    const way = told?.way ?? null, steps = way?.steps ?? [];
    this.scrub.hidden = !way;
    if (!way) return;
    this.player.hidden = this.range.hidden = !steps.length;
    this.range.max = Math.max(0, steps.length - 1);
    this.range.value = this.step ?? 0;
    const at = steps[this.step ?? 0], misses = at && at.objective === null ? `, ${at.residual} misclassified` : "";
    this.stepName.textContent = at ? `${at.name} of ${way.solver}${misses}` : way.reason;
    this.range.setAttribute("aria-valuetext", this.stepName.textContent);
  }

  go(step) {
    this.step = step;
    this.draw(this.selected);
  }

  play() {
    const steps = this.shown?.way?.steps.length ?? 0;
    if (!steps) return;
    if (this.playing) return this.stop();
    let at = this.step >= steps - 1 ? 0 : this.step;
    this.player.textContent = "Pause";
    this.playing = setInterval(() => { this.go(at++); if (at >= steps) this.stop(); }, 450);
  }

  stop() {
    clearInterval(this.playing);
    this.playing = null;
    this.player.textContent = "Play";
  }

  drawDetails() {
    const told = this.shown && !this.shown.refused ? this.shown : null;
    const parts = {
      samples: () => (told?.samples ? [this.tableOf(told.samples)] : []),
      proof: () => (told ? [...prose(told.words), ...(told.infinity ? prose(told.infinity.words) : [])] : []),
      formulas: () => (told?.formulas ? formulaParts(told.formulas) : [html("p", {}, "Formulas follow when the points rest.")]),
      exact: () => (told?.exact ? this.exactParts(told.exact) : []),
    };
    if (this.tab === "exact" && !told?.exact) this.tab = "proof";
    for (const button of this.buttons) {
      button.setAttribute("aria-selected", button.dataset.tab === this.tab);
      button.setAttribute("tabindex", button.dataset.tab === this.tab ? 0 : -1);
      button.hidden = (button.dataset.tab === "exact" && !told?.exact) || (button.dataset.tab === "formulas" && !this.hands);
    }
    const now = parts[this.tab](), shownAlready = this.details.childNodes;
    if (now.length !== shownAlready.length || now.some((node, k) => node !== shownAlready[k])) this.details.replaceChildren(...now);
    this.details.dataset.tab = this.tab;
    this.link(this.selected);
  }

  tableOf(samples) {
    if (this.table?.key === SampleTable.key(samples)) this.table.write(samples);
    else this.table = new SampleTable(samples, this.hands);
    return this.table.node;
  }

  exactParts(exact) {
    const accepted = { true: "The verifier accepts the certificate.", false: "The verifier refuses the certificate." }[exact.accepted];
    const files = { ...exact.files, "picture.svg": null };
    const keep = Object.keys(files).map((name) => html("button", { type: "button", "data-file": name,
      click: () => save(name, name === "picture.svg" ? this.plot.file() : files[name]) }, name));
    return [html("p", {}, exact.proved ? "Proved in rationals, of the points as the decimals that they are. The optimum is" : "Not proved in rationals."),
      exact.optimum ? html("p", { class: "fraction" }, exact.optimum) : null, html("p", {}, accepted ?? exact.reason),
      html("p", { class: "keep" }, "Keep: ", ...keep)].filter(Boolean);
  }

  /** The row of a table and the point that belong together. */
  link(row) {
    for (const line of this.details.querySelectorAll("tr[data-row]")) line.classList.toggle("linked", Number(line.dataset.row) === row);
    this.plot.marks.forEach((mark, k) => mark.classList.toggle("linked", k === row));
  }
}

function save(name, text) {
  const type = { svg: "image/svg+xml", json: "application/json", csv: "text/csv" }[name.split(".").pop()] ?? "text/plain";
  const address = URL.createObjectURL(new Blob([text], { type }));
  html("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

// ---- sliders and choices ------------------------------------------------------------------------------

/** A slider's place from 0 to 1000, and back; its ends may stand for other values. */
const PLACES = 1000;
function sliderPlace(slider, value) {
  if (value === null) return PLACES;
  if (slider.left !== null && value === slider.left) return 0;
  if (slider.whole) return value;
  return Math.round(PLACES * Math.log(value / slider.low) / Math.log(slider.high / slider.low));
}
function sliderValue(slider, place) {
  if (slider.whole) return place;
  if (place >= PLACES && slider.unbounded) return null;
  if (place <= 0 && slider.left !== null) return slider.left;
  return Number((slider.low * (slider.high / slider.low) ** (place / PLACES)).toPrecision(3));
}

function option(value, text, chosen) {
  return html("option", { value, selected: value === chosen }, text);
}

function drawControls(panel, asked, menu, change) {
  const model = menu.models[asked.model];
  const select = (name, options, chosen, set) => html("label", {}, html("span", {}, name), html("select", { change: (event) => set(event.target.value) },
    ...options.map(([value, text]) => option(value, text, chosen))));
  const models = Object.entries(menu.models).map(([name, { title }]) => [name, title]);
  const set = (name, value, moving) => change({ ...asked, parameters: { ...asked.parameters, [name]: value } }, moving);
  const sliders = model.sliders.map((slider) => {
    const value = slider.name in asked.parameters ? asked.parameters[slider.name] : slider.default;
    const shown = (number) => (number === null ? "∞, hard" : short(number, 3)), output = html("output", { class: "number" }, shown(value));
    const range = slider.whole ? { min: slider.low, max: slider.high } : { min: 0, max: PLACES };
    const read = (event) => sliderValue(slider, Number(event.target.value));
    return html("label", { class: "slider" }, html("span", {}, slider.symbol), html("input", { type: "range", ...range, "data-parameter": slider.name,
      value: sliderPlace(slider, value), "aria-valuetext": shown(value), step: 1,
      input: (event) => { output.textContent = shown(read(event)); event.target.setAttribute("aria-valuetext", output.textContent); set(slider.name, read(event), true); },
      change: (event) => set(slider.name, read(event), false) }), output);
  });
  const words = Object.entries(model.choices).map(([name, choices]) => {
    const value = name in asked.parameters ? asked.parameters[name] : choices[0];
    if (typeof choices[0] === "boolean") return html("label", { class: "check" }, html("input", { type: "checkbox", checked: value, change: (event) => set(name, event.target.checked, false) }), html("span", {}, name));
    return select(name, choices.map((word) => [word, word]), value, (word) => set(name, word, false));
  });
  const toModel = (name) => change({ model: name, parameters: {}, solver: "auto", path: asked.path }, false);
  const way = html("label", { class: "check" }, html("input", { type: "checkbox", checked: asked.path, "data-way": true, change: (event) => change({ ...asked, path: event.target.checked }, false) }), html("span", {}, "its steps"));
  panel.controls.replaceChildren(select("model", models, asked.model, toModel), ...sliders, ...words,
    select("solver", model.solvers.map((name) => [name, name]), asked.solver, (name) => change({ ...asked, solver: name }, false)), way);
}

// ---- the whole ----------------------------------------------------------------------------------------

const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
const plain = (state) => { const { moving, level, ...kept } = state; return kept; };

/** The page: state, history, panels. `home` has ask(state), and where it can load({gallery} or {table, ...}) and address. */
export class App {
  constructor(element, menu, state, home) {
    Object.assign(this, { element, menu, home, state: plain(state), past: [], future: [], panels: [], selected: null, kind: 0, timings: [] });
    this.asking = null;
    this.waiting = null;
    this.hands = {
      select: (row) => this.select(row), hover: (row) => this.hover(row), drag: (row, place, time) => this.drag(row, place, time), drop: () => this.drop(),
      nudge: (row, place) => this.put(row, place, false), add: (place) => this.add(place), remove: (row) => this.remove(row), recolour: (row, k) => this.recolour(row, k),
    };
    this.makeFrame();
    this.rebuild();
    this.ask();
    element.convexcls = this;
    if (typeof ResizeObserver === "function") new ResizeObserver(() => this.redraw()).observe(element);
  }

  makeFrame() {
    const button = (text, title, click, more = {}) => html("button", { type: "button", title, click, ...more }, text);
    this.undoButton = button("↶", "Undo (Ctrl+Z)", () => this.undo(), { "aria-label": "Undo" });
    this.redoButton = button("↷", "Redo (Ctrl+Shift+Z)", () => this.redo(), { "aria-label": "Redo" });
    this.palette = html("div", { class: "palette", role: "radiogroup", "aria-label": "Class of new points" });
    this.deleteButton = button("Delete", "Delete the chosen point", () => this.selected !== null && this.remove(this.selected));
    this.compareButton = button("Side by side", "Two models on the same points", () => this.compare(), { "aria-pressed": "false" });
    this.exactButton = button("Prove exactly", "Prove this picture in rationals", () => this.exactly());
    const bar = html("header", { class: "bar" }, html("h1", {}, "convexcls ", html("b", {}, "live")), this.palette, html("div", { class: "group" }, this.undoButton, this.redoButton, this.deleteButton),
      html("div", { class: "group" }, this.home.load ? this.loader() : null, this.compareButton, this.exactButton, this.home.address ? button("Copy link", "The address holds this picture", (event) => this.copyLink(event.target)) : null));
    this.trouble = html("p", { class: "trouble", role: "alert", hidden: true });
    this.chooser = html("div", { class: "chooser", hidden: true });
    this.place = html("div", { class: "panels" });
    this.region = html("p", { class: "unseen", role: "status", "aria-live": "polite" });
    const keys = html("details", { class: "keys" }, html("summary", {}, "Mouse, touch and keys"), html("p", {}, "Click or tap empty ground: a new point. Drag a point: it moves. "
      + "Keys on a point: arrows move it (with Shift ten times as far), 1, 2, 3 change its class, A adds one beside it, Delete removes it, Page Up and Page Down go to another. Ctrl+Z undoes."));
    this.element.classList.add("convexcls-live");
    this.element.replaceChildren(bar, this.trouble, this.chooser, this.place, keys, this.region);
    this.element.addEventListener("keydown", (event) => this.shortcut(event));
  }

  loader() {
    const file = html("input", { type: "file", accept: ".csv,.txt,.tsv,text/csv", class: "unseen", tabindex: -1, "aria-hidden": "true", change: async () => {
      const chosen = file.files[0];
      file.value = "";
      if (!chosen) return;
      if (chosen.size > 1e6) return this.complain("The file is larger than 1 MB: the page shows at most 500 samples.");
      this.loadTable({ table: await chosen.text() });
    } });
    const select = html("select", { "aria-label": "Load", change: () => {
      const name = select.value;
      select.value = "";
      if (name === "file") file.click();
      else if (name) this.load({ gallery: name.slice(8) });
    } }, html("option", { value: "", selected: true }, "Load …"), html("option", { value: "file" }, "a CSV file …"),
    html("optgroup", { label: "Gallery" }, ...this.menu.gallery.map((name) => html("option", { value: `gallery:${name}` }, name))));
    return html("span", { class: "loader" }, select, file);
  }

  shortcut(event) {
    if (!(event.ctrlKey || event.metaKey) || /^(input|select|textarea)$/i.test(event.target.tagName) && event.target.type !== "range") return;
    const key = event.key.toLowerCase();
    if (key === "z" && !event.shiftKey) this.undo();
    else if (key === "y" || (key === "z" && event.shiftKey)) this.redo();
    else return;
    event.preventDefault();
  }

  // -- what people do to points

  grid(place) {
    const step = gridStep(this.state.frame);
    return place.map((value) => snapped(value, step));
  }

  keep() {
    this.past.push(JSON.stringify(this.state));
    if (this.past.length > 200) this.past.shift();
    this.future = [];
  }

  put(row, place, moving, time = null) {
    const points = this.state.points.map((point) => [...point]), [x, y] = this.grid(place);
    if (!moving && !this.dragging) this.keep();
    points[row] = [x, y, points[row][2]];
    this.state = { ...this.state, points };
    this.redraw();
    this.ask(moving, time);
  }

  drag(row, place, time) {
    if (!this.dragging) { this.keep(); this.dragging = true; }
    this.put(row, place, true, time);
  }

  drop() {
    this.dragging = false;
    this.ask();
  }

  add(place) {
    if (this.state.points.length >= MAX_POINTS) return this.complain(`There are ${MAX_POINTS} points already: more are not shown.`);
    this.keep();
    const kind = Math.min(this.kind, this.state.classes.length - 1);
    this.state = { ...this.state, points: [...this.state.points, [...this.grid(place), kind]] };
    this.selected = this.state.points.length - 1;
    this.redraw();
    this.panels[0].plot.marks[this.selected]?.focus({ preventScroll: true });
    this.ask();
  }

  remove(row) {
    this.keep();
    this.state = { ...this.state, points: this.state.points.filter((_, k) => k !== row) };
    this.selected = this.state.points.length ? Math.min(row, this.state.points.length - 1) : null;
    for (const panel of this.panels) if (panel.shown && !panel.shown.refused) panel.shown = { ...panel.shown, discs: null, samples: null, hulls: null };
    this.redraw();
    if (this.selected !== null) this.panels[0].plot.marks[this.selected]?.focus({ preventScroll: true });
    this.ask();
  }

  recolour(row, kind) {
    if (kind >= this.state.classes.length) return;
    this.keep();
    this.state = { ...this.state, points: this.state.points.map((point, k) => (k === row ? [point[0], point[1], kind] : point)) };
    this.redraw();
    this.ask();
  }

  select(row) {
    this.selected = row;
    this.redraw();
  }

  hover(row) {
    const seen = row === null ? this.selected : row;
    for (const panel of this.panels) panel.link(seen);
  }

  // -- what people do to models

  setPanel(k, asked, moving) {
    if (!moving && !this.sliding) this.keep();
    if (moving && !this.sliding) { this.keep(); this.sliding = true; }
    if (!moving) this.sliding = false;
    const before = this.state.panels[k].model, panels = this.state.panels.map((one, i) => (i === k ? asked : one));
    this.state = { ...this.state, panels };
    const classes = Math.max(...panels.map(({ model }) => this.menu.models[model].classes)), known = this.state.classes;
    if (classes > known.length && before !== asked.model) this.state.classes = [...known, ["A", "B", "C", "D"].find((name) => !known.includes(name))];
    if (!moving) this.rebuild();
    this.ask(moving);
  }

  compare() {
    this.keep();
    const [first, second] = this.state.panels;
    const other = first.model === "logistic" ? "soft-margin" : "logistic";
    this.state = { ...this.state, panels: second ? [first] : [first, { model: other, parameters: {}, solver: "auto", path: false }] };
    this.rebuild();
    this.ask();
  }

  exactly() {
    const points = this.state.points.map(([x, y, k]) => [...this.grid([x, y]), k]);
    if (!same(points, this.state.points)) { this.keep(); this.state = { ...this.state, points }; }
    this.exactButton.setAttribute("aria-busy", "true");
    this.redraw();
    this.ask(false, null, "exact");
  }

  // -- history, address, loading

  undo() { this.travel(this.past, this.future); }
  redo() { this.travel(this.future, this.past); }

  travel(from, to) {
    if (!from.length) return;
    to.push(JSON.stringify(this.state));
    this.take(JSON.parse(from.pop()));
  }

  take(state) {
    this.state = plain(state);
    if (this.selected !== null && this.selected >= state.points.length) this.selected = null;
    for (const panel of this.panels) panel.shown = null;
    this.rebuild();
    this.ask();
  }

  async copyLink(button) {
    this.home.address.write(this.state);
    try {
      await navigator.clipboard.writeText(this.home.address.link());
      button.textContent = "Copied";
    } catch {
      button.textContent = "It is in the address bar";
    }
    setTimeout(() => { button.textContent = "Copy link"; }, 1600);
  }

  async load(what) {
    try {
      const { state } = await this.home.load(what);
      this.keep();
      this.take(state);
      this.complain("");
      return true;
    } catch (error) {
      this.complain(error.message);
      return false;
    }
  }

  async loadTable(what) {
    const asked = { ...what, model: this.state.panels[0].model };
    try {
      const found = await this.home.load(asked);
      this.keep();
      this.take(found.state);
      this.complain("");
      this.offerColumns(asked, found);
    } catch (error) {
      this.complain(error.message);
    }
  }

  offerColumns(asked, found) {
    const [first, second] = found.state.features;
    const select = (label, names, chosen) => html("label", {}, html("span", {}, label), html("select", { change: () => again() }, ...names.map((name) => option(name, name, chosen))));
    const parts = [select("across", found.numeric, first), select("up", found.numeric, second), select("classes", found.columns, found.target)];
    const again = () => {
      const [a, b, target] = parts.map((part) => part.querySelector("select").value);
      this.loadTable({ ...asked, features: [a, b], target });
    };
    this.chooser.replaceChildren("Columns: ", ...parts, html("button", { type: "button", click: () => { this.chooser.hidden = true; } }, "Done"));
    this.chooser.hidden = false;
  }

  complain(words) {
    this.trouble.textContent = words;
    this.trouble.hidden = !words;
  }

  // -- asking: one question at a time, and of those that wait only the newest

  ask(moving = false, time = null, level = "float") {
    this.waiting = { state: { ...this.state, moving, level }, time };
    if (!this.asking) this.next();
  }

  async next() {
    const question = this.waiting;
    if (!question) return;
    this.waiting = null;
    this.asking = question;
    try {
      this.answered(question, await this.home.ask(question.state));
    } catch (error) {
      if (error.lost) this.waiting ??= question; // asked again when the server is back
      else this.complain(error.message);
    } finally {
      this.asking = null;
      this.exactButton.toggleAttribute("aria-busy", false);
    }
    if (this.waiting && !this.home.lost) this.next();
  }

  /** The server is back: what waits is asked. */
  back() {
    this.complain("");
    this.waiting ??= { state: { ...this.state, moving: false, level: "float" }, time: null };
    if (!this.asking) this.next();
  }

  answered({ state, time }, answer) {
    if (time !== null || this.answer) this.complain("");
    if (state.points.length !== this.state.points.length || state.panels.length !== this.panels.length) return;
    answer.panels.forEach((shown, k) => {
      if (shown.model === this.state.panels[k].model) this.panels[k].show({ ...this.state, moving: state.moving }, shown, this.selected);
    });
    this.answer = answer;
    if (time !== null) requestAnimationFrame(() => { this.timings.push(performance.now() - time); if (this.timings.length > 1000) this.timings.shift(); });
    clearTimeout(this.resting);
    this.resting = setTimeout(() => this.rest(), REST);
  }

  /** The points rest: the address and the screen reader are told. */
  rest() {
    if (!this.dragging) this.home.rest(this.state);
    const told = this.panels.map(({ shown }) => {
      if (!shown || shown.refused) return shown?.refused ?? "";
      const held = shown.discs?.symbol === "α" ? shown.discs.values.filter((value) => value > 0).length : 0;
      return `${shown.status}${shown.objective === null ? "" : `, objective ${short(shown.objective, 5)}`}${held ? `, ${held} support points` : ""}`;
    }).join("; ");
    if (this.region.textContent !== told) this.region.textContent = told;
  }

  // -- drawing

  rebuild() {
    const { panels } = this.state;
    while (this.panels.length > panels.length) this.panels.pop().node.remove();
    while (this.panels.length < panels.length) {
      this.panels.push(new Panel(this.hands, true));
      this.place.append(this.panels[this.panels.length - 1].node);
    }
    this.place.classList.toggle("two", panels.length > 1);
    this.compareButton.setAttribute("aria-pressed", panels.length > 1);
    panels.forEach((asked, k) => {
      const full = { parameters: {}, solver: "auto", path: false, ...asked };
      const within = this.panels[k].controls.contains(document.activeElement);
      const at = within ? [...this.panels[k].controls.querySelectorAll("select, input")].indexOf(document.activeElement) : -1;
      drawControls(this.panels[k], full, this.menu, (changed, moving) => this.setPanel(k, changed, moving));
      if (at >= 0) this.panels[k].controls.querySelectorAll("select, input")[at]?.focus();
    });
    this.redraw();
  }

  redraw() {
    this.undoButton.disabled = !this.past.length;
    this.redoButton.disabled = !this.future.length;
    this.deleteButton.disabled = this.selected === null;
    this.drawPalette();
    for (const panel of this.panels) {
      panel.state = this.state;
      if (panel.shown && !this.dragging && !this.sliding) panel.draw(this.selected);
      else panel.plot.draw(this.state, panel.shown && !panel.shown.refused ? panel.shown : null, this.selected, panel.stepShown);
    }
  }

  drawPalette() {
    const { classes, points } = this.state, chosen = this.selected === null ? Math.min(this.kind, classes.length - 1) : points[this.selected][2];
    const key = JSON.stringify([classes, chosen]);
    if (this.palette.dataset.key === key) return;
    this.palette.dataset.key = key;
    const focused = this.palette.contains(document.activeElement);
    this.palette.replaceChildren(...classes.map((name, k) => html("button", { type: "button", role: "radio", "aria-checked": k === chosen, class: `kind class-${k}`,
      tabindex: k === chosen ? 0 : -1, title: this.selected === null ? `New points are of class ${name}` : `Make the point one of class ${name}`, click: () => this.choose(k),
      keydown: (event) => { const way = { ArrowRight: 1, ArrowLeft: -1 }[event.key]; if (way) this.choose((k + way + classes.length) % classes.length); } },
    svg("svg", { viewBox: "-9 -9 18 18", "aria-hidden": "true" }, shape(k, POINT)), html("span", {}, name))));
    if (focused) this.palette.querySelector("[aria-checked=true]")?.focus();
  }

  choose(kind) {
    this.kind = kind;
    if (this.selected !== null) this.recolour(this.selected, kind);
    else this.redraw();
  }
}

// ---- homes --------------------------------------------------------------------------------------------

/** A state as text for the fragment of an address, and back. */
export function packed(state) {
  const { moving, level, schema, ...kept } = state;
  const bytes = new TextEncoder().encode(JSON.stringify(kept));
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join("")).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
export function unpacked(text) {
  const bytes = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
  return { schema: SCHEMA, ...JSON.parse(new TextDecoder().decode(bytes)) };
}

/** A state whose panels say everything. */
function complete(state) {
  return { ...state, panels: state.panels.map((asked) => ({ model: asked.model, parameters: asked.parameters ?? {}, solver: asked.solver ?? "auto", path: asked.path ?? false })) };
}

/** Whether what an address held can be shown at all; the server checks the rest. */
function isState(state, menu) {
  const finite = (values, length) => Array.isArray(values) && values.length === length && values.every(Number.isFinite);
  const names = (values, least, most) => Array.isArray(values) && values.length >= least && values.length <= most && values.every((name) => typeof name === "string");
  const { points, classes, features, frame, panels } = state;
  return names(classes, 2, 3) && names(features, 2, 2) && finite(frame, 4) && frame[0] < frame[1] && frame[2] < frame[3]
    && Array.isArray(points) && points.length <= MAX_POINTS && points.every((point) => finite(point, 3) && point[2] in classes)
    && Array.isArray(panels) && [1, 2].includes(panels.length) && panels.every((asked) => asked && Object.hasOwn(menu.models, asked.model));
}

/** The server at the other end of a socket: questions with numbers, answers to them, and a new try when it is gone. */
class Server {
  constructor(address, greeted, changed) {
    Object.assign(this, { address, greeted, changed, number: 0, open: new Map(), lost: false, patience: 400 });
    this.connect();
  }

  connect() {
    this.socket = new WebSocket(this.address);
    this.socket.onmessage = ({ data }) => this.heard(JSON.parse(data));
    this.socket.onclose = () => this.gone();
  }

  heard(message) {
    if (message.menu) {
      const again = this.lost;
      [this.lost, this.patience] = [false, 400];
      this.greeted(message);
      if (again) this.changed(true);
      return;
    }
    const promise = this.open.get(message.number);
    this.open.delete(message.number);
    if (!promise) return;
    if (message.dropped) promise.reject(Object.assign(new Error("a newer question came"), { lost: true }));
    else if (message.error) promise.reject(new Error(message.error));
    else promise.resolve(message.answer ?? message.loaded);
  }

  gone() {
    this.lost = true;
    for (const { reject } of this.open.values()) reject(Object.assign(new Error("the connection is lost"), { lost: true }));
    this.open.clear();
    this.changed(false);
    setTimeout(() => this.connect(), this.patience);
    this.patience = Math.min(5000, 1.6 * this.patience);
  }

  send(question) {
    if (this.lost || this.socket.readyState !== WebSocket.OPEN) return Promise.reject(Object.assign(new Error("the connection is lost"), { lost: true }));
    const number = ++this.number;
    this.socket.send(JSON.stringify({ number, ...question }));
    return new Promise((resolve, reject) => this.open.set(number, { resolve, reject }));
  }

  ask(state) { return this.send({ state }); }
  load(what) { return this.send({ load: what }); }
}

/** The page of the server: everything else follows from its address. */
export function page(element) {
  let app = null;
  const address = {
    write: (state) => history.replaceState(null, "", `#${packed(state)}`),
    link: () => location.href,
    read: () => { try { return location.hash.length > 1 ? unpacked(location.hash.slice(1)) : null; } catch { return null; } },
  };
  const socket = new URL("socket", location.href);
  socket.protocol = socket.protocol.replace("http", "ws");
  socket.hash = socket.search = "";
  const refused = "The address holds no picture that can be shown.";
  const greeted = ({ menu, state }) => {
    if (app) return;
    const kept = address.read(), fits = kept !== null && isState(kept, menu);
    app = new App(element, menu, fits ? complete(kept) : state, home);
    if (location.hash.length > 1 && !fits) app.complain(refused);
  };
  const changed = (back) => {
    if (!app) element.textContent = "The server does not answer; trying again …";
    else if (back) app.back();
    else app.complain("The connection to the server is lost; trying again …");
  };
  const server = new Server(socket.href, greeted, changed);
  const home = { ask: (state) => server.ask(state), load: (what) => server.load(what), address, rest: address.write, get lost() { return server.lost; } };
  addEventListener("hashchange", () => {
    const state = address.read();
    if (!app) return;
    if (state === null || !isState(state, app.menu)) app.complain(refused);
    else if (!same(plain(complete(state)), app.state)) app.take(complete(state));
  });
}

/** A walk that was recorded: states with their answers, one after another; nothing can be moved, only looked at. */
export function replay(element, record) {
  const panel = new Panel(null, false), last = record.frames.length - 1;
  let at = 0, playing = null;
  const range = html("input", { type: "range", min: 0, max: last, value: 0, "aria-label": "place on the walk", input: () => show(Number(range.value)) });
  const button = html("button", { type: "button", click: () => (playing ? stop() : play()) }, "Play");
  const show = (k) => {
    at = k;
    range.value = k;
    const { state, answer } = record.frames[k];
    range.setAttribute("aria-valuetext", `${k + 1} of ${last + 1}`);
    panel.show(state, answer.panels[0], record.row ?? null);
  };
  const stop = () => { clearInterval(playing); playing = null; button.textContent = "Play"; };
  const play = () => { if (at >= last) show(0); button.textContent = "Pause"; playing = setInterval(() => { if (at >= last) stop(); else show(at + 1); }, 220); };
  element.classList.add("convexcls-live", "walk");
  element.replaceChildren(html("div", { class: "walker" }, button, range), html("div", { class: "panels" }, panel.node));
  show(0);
  if (typeof ResizeObserver === "function") new ResizeObserver(() => show(at)).observe(element);
  return { show, panel };
}

/** A widget of a notebook: the kernel answers, by messages. */
function render({ model, el }) {
  const open = new Map();
  let number = 0;
  const heard = (message) => {
    const promise = open.get(message.number);
    open.delete(message.number);
    if (!promise) return;
    if (message.error) promise.reject(new Error(message.error));
    else promise.resolve(message.answer ?? message.loaded);
  };
  model.on("msg:custom", heard);
  const send = (question) => new Promise((resolve, reject) => {
    open.set(++number, { resolve, reject });
    model.send({ number, ...question });
  });
  const place = html("div", {});
  el.replaceChildren(place);
  // The state rests where the kernel reads it, as it rests in the address of a page.
  const rest = (state) => { model.set("state", state); model.save_changes(); };
  const home = { ask: (state) => send({ state }), load: (what) => send({ load: what }), rest, lost: false };
  new App(place, model.get("menu"), model.get("state"), home);
  return () => model.off("msg:custom", heard);
}

export default { render };
