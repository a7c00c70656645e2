// The page of Hiatus: shows what /ws/v1/hiatus tells, a page of each list at a time. What it shows is text, never markup.
"use strict";

const REST = "/ws/v1/hiatus";
const PAGE = 50;
const EVERY_MS = 3000;
/** Who is known by a name of their own choice (simple authentication) stays so. */
const USER = new URLSearchParams(location.search).get("user.name");

const at = id => document.getElementById(id);
const state = {list: "jobs", queue: "", timelineQueue: "", offset: 0, held: false, round: 0, toldMs: 0};

// ---- Asking ----

async function ask(path, parameters = {}, options = {}) {
  const query = new URLSearchParams(parameters);
  if (USER) {
    query.set("user.name", USER);
  }
  const headers = {"Accept": "application/json", "X-XSRF-HEADER": "hiatus", ...options.headers};
  const answer = await fetch(REST + path + (query.size ? "?" + query : ""), {...options, headers, credentials: "same-origin"});
  const text = await answer.text();
  if (!answer.ok) {
    let message = answer.status + " " + answer.statusText;
    try {
      message = JSON.parse(text).RemoteException.message;
    } catch {
      // no answer of YARN's
    }
    throw new Error(message);
  }
  return JSON.parse(text);
}

// ---- Words and numbers ----

const count = number => Number(number).toLocaleString("en");
const percent = fraction => (100 * fraction).toFixed(fraction < 0.1 ? 1 : 0) + "\u00a0%";
const plural = (number, thing) => count(number) + " " + thing + (number === 1 ? "" : "s");
const upper = text => text.charAt(0).toUpperCase() + text.slice(1);

function memory(mb) {
  return mb >= 10240 ? (mb / 1024).toFixed(0) + " GiB" : mb >= 1024 ? (mb / 1024).toFixed(1) + " GiB" : count(mb) + " MiB";
}

function time(seconds) {
  if (seconds < 60) {
    return seconds < 10 ? seconds.toFixed(1) + " s" : seconds.toFixed(0) + " s";
  }
  return seconds < 3600 ? (seconds / 60).toFixed(seconds < 600 ? 1 : 0) + " min" : (seconds / 3600).toFixed(1) + " h";
}

/** Where HFSP has a job's size from. */
const SOURCES = {
  tiny: "a default, for it is small", hint: "its tag", initial: "a first guess", training: "a guess until its first tasks end",
  final: "its first tasks", told: "what it tells of its stages",
};

function sizeOf(job) {
  const source = job.sizing && (SOURCES[job.sizing.source] || job.sizing.source);
  return source ? "from " + source : "";
}

// ---- Building ----

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false) {
      element.setAttribute(name, value);
    }
  }
  element.append(...children.filter(child => child !== null && child !== undefined));
  return element;
}

/** A bar of the held part, with a mark where the wanted part ends. */
function meter(held, mark, text, warm) {
  const most = Math.max(1e-9, held, mark, 1);
  const bar = make("i", {class: warm ? "warm" : null});
  bar.style.width = 100 * held / most + "%";
  const end = make("b");
  end.style.left = `calc(${100 * Math.min(mark, most) / most}% - 1px)`;
  return make("div", {}, text, make("span", {class: "meter", "aria-hidden": "true"}, bar, end));
}

const jobLink = id => id ? make("a", {href: "#/job/" + id, class: "id"}, id.replace("application_", "")) : "somebody else's job";
const quiet = text => make("div", {class: "small"}, text);

/** What a table shows: heading, class of the column, content of an entry. */
const COLUMNS = {
  jobs: [
    ["Rank", "number", job => count(job.rank)],
    ["Application", "", job => make("div", {}, jobLink(job.application), job.partition ? quiet("partition " + job.partition) : null)],
    ["Queue", "", job => make("div", {}, job.queue, job.priority ? quiet("priority " + count(job.priority)) : null)],
    ["Work left", "", job => make("div", {}, time(job.remaining_s), quiet(sizeOf(job)))],
    ["Holds, of its target", "", job => meter(job.held, job.target, percent(job.held) + " of " + percent(job.target))],
    ["Wants", "number", job => count(job.pending)],
    ["Suspended", "number", job => count(job.suspended)],
    ["Waits for", "", job => upper(job.blocked_by)],
  ],
  queues: [
    ["Queue", "", queue => make("div", {}, queue.queue, queue.partition ? quiet("partition " + queue.partition) : null)],
    ["Holds, of what it is entitled to", "", queue => meter(queue.held, queue.entitled, percent(queue.held) + " of " + percent(queue.entitled))],
    ["Jobs", "number", queue => count(queue.jobs)],
    ["Containers wanted", "number", queue => count(queue.pending)],
    ["Suspended", "number", queue => count(queue.suspended)],
    ["Spared from", "", queue => queue.spared_from || ""],
  ],
  suspended: [
    ["Container", "", one => make("span", {class: "id"}, one.container)],
    ["Application", "", one => jobLink(one.application)],
    ["Node", "", one => one.node],
    ["For", "number", one => time(one.for_ms / 1000)],
    ["Times", "number", one => count(one.times)],
    ["Why", "", one => upper(one.why)],
    ["For whom", "", one => one.reason === "preempted" || one.reason === "recalled" ? jobLink(one.by) : "–"],
    ["Waits for", "", one => upper(one.waits_for)],
  ],
  nodes: [
    ["Node", "", node => make("div", {}, node.node, node.partition ? quiet("partition " + node.partition) : null)],
    ["Suspended containers", "number", node => count(node.suspended)],
    ["Memory they keep, of what they may", "", node => meter(node.most_suspended_mb > 0 ? node.suspended_mb / node.most_suspended_mb : 0, 1,
      memory(node.suspended_mb) + " of " + memory(node.most_suspended_mb), true)],
    ["Used by the others", "", node => meter(node.used_mb / Math.max(1, node.total_mb), 1, memory(node.used_mb) + " of " + memory(node.total_mb))],
  ],
};

const ABOUT = {
  jobs: "In the order in which they are served, within each queue and partition.",
  queues: "In the order in which they are served: those that lack most of what they are entitled to come first.",
  suspended: "Longest first. A suspended container keeps its memory and goes on where it is.",
  nodes: "Nodes on which containers are suspended.",
};

function table(target, list, entries, without) {
  const columns = COLUMNS[list].filter(([name]) => name !== without);
  const head = make("thead", {}, make("tr", {}, ...columns.map(([name, kind]) => make("th", {scope: "col", class: kind || null}, name))));
  const naming = list === "jobs" ? 1 : 0;
  const rows = entries.map(entry => make("tr", {}, ...columns.map(([, kind, content], i) =>
    make(i === naming ? "th" : "td", {scope: i === naming ? "row" : null, class: kind || null}, content(entry)))));
  const none = make("tr", {}, make("td", {colspan: columns.length, class: "small"}, "None."));
  target.replaceChildren(make("caption", {class: "skip"}, ABOUT[list]), head, make("tbody", {}, ...(rows.length ? rows : [none])));
}

/** Changes a list of options only if it is another one, so that nobody's choice closes under their hands. */
function options(select, names, first) {
  const wanted = ["", ...names].join("\n");
  if (select.dataset.names !== wanted) {
    const chosen = select.value;
    select.replaceChildren(make("option", {value: ""}, first), ...names.map(name => make("option", {value: name}, name)));
    select.value = names.includes(chosen) ? chosen : "";
    select.dataset.names = wanted;
  }
}

// ---- The parts ----

function showState(told) {
  at("mode").textContent = "mode " + told.mode;
  const banner = at("banner");
  const places = !told.fault && told.mode !== "off" && told.mode !== "observe";
  banner.hidden = places;
  banner.className = told.fault ? "" : "mild";
  banner.textContent = told.fault
    ? `Stock CapacityScheduler has taken over: ${told.fault}. After mending the cause, yarn rmadmin -refreshQueues starts Hiatus again.`
    : told.mode === "observe" ? "Hiatus only observes: stock CapacityScheduler places, and what is shown here is what Hiatus would do."
    : told.mode === "off" ? "Hiatus is switched off: stock CapacityScheduler places." : "";
  const totals = told.totals || {};
  const counters = told.counters || {};
  const figures = {
    "Jobs": totals.jobs, "Suspended now": told.suspended_now, "Suspensions so far": counters.suspended, "Resumptions": counters.resumed,
    "Killed": counters.killed, "Run time lost by that": counters.wasted_s === undefined ? undefined : time(counters.wasted_s),
    "Refused": counters.rejected, "Stock's own preemption": told.stock_preemption,
  };
  at("figures").replaceChildren(...Object.entries(figures).filter(([, value]) => value !== undefined).map(([name, value]) =>
    make("div", {}, make("dt", {}, name), make("dd", {}, typeof value === "number" ? count(value) : value))));
  for (const tab of document.querySelectorAll("[role=tab]")) {
    const total = totals[tab.dataset.list];
    tab.textContent = upper(tab.dataset.list) + (total === undefined ? "" : " (" + count(total) + ")");
  }
}

const NO_HINDSIGHT = {
  "off": "It is not simulated: hindsight-interval-ms is 0.",
  "awaited": "It is simulated as soon as jobs have come and ended, and hindsight-interval-ms is over.",
  "failed": "Simulating it failed; the log has more.",
};

const HINDSIGHT_LIMITS = "Jobs come when they came, and tasks take as long as they took, whatever the settings. Jobs that were there before, or are "
  + "there still, are not simulated; nodes that cannot suspend now cannot there either; for stock stands FIFO without preemption. "
  + "A difference that is not much larger than the error means nothing.";

function whatItWouldHaveSaved(about) {
  if (about.state === "impossible") {
    return `It could not be simulated: ${about.why}.`;
  }
  if (about.state === "no-job") {
    return `None of the jobs that came and ended can be simulated: ${plural(about.left_out, "job")} left out.`;
  }
  if (about.state !== "made") {
    return NO_HINDSIGHT[about.state] || "–";
  }
  const part = means => (means.configured_s / means.simulated_s).toFixed(2);
  const error = 100 * (about.all.simulated_s / about.all.real_s - 1);
  const signed = (error < 0 ? "\u2212" : "+") + Math.abs(error).toFixed(0) + "\u00a0%";
  return `${plural(about.all.jobs, "job")} that came and ended in the last ${time(about.span_s + about.age_s)} took ${time(about.all.real_s)} on average. `
    + `With Hiatus as configured, in mode suspend, it would have been ${part(about.all)} of that, and ${part(about.small)} for the half with least work; `
    + `by a simulation whose error on what really happened was ${signed}. It would have taken ${plural(about.suspensions, "suspension")}`
    + `${about.kills ? " and killed " + plural(about.kills, "container") : ""}. ${plural(about.left_out, "other job")} `
    + `${about.left_out === 1 ? "is" : "are"} not in it. As of ${time(about.age_s)} ago.`;
}

function showHindsight(told) {
  const about = told.hindsight;
  at("hindsight").hidden = told.mode !== "observe" || !about;
  if (!at("hindsight").hidden) {
    at("hindsight-text").textContent = whatItWouldHaveSaved(about);
    at("hindsight-limits").textContent = about.state === "made" ? HINDSIGHT_LIMITS : "";
  }
}

function showList(told) {
  const entries = told[state.list] || [];
  const total = (told.totals || {})[state.list] || 0;
  for (const tab of document.querySelectorAll("[role=tab]")) {
    const chosen = tab.dataset.list === state.list;
    tab.setAttribute("aria-selected", chosen);
    tab.tabIndex = chosen ? 0 : -1;
  }
  at("panel").setAttribute("aria-labelledby", "tab-" + state.list);
  at("about").textContent = ABOUT[state.list];
  at("filter").hidden = state.list !== "jobs";
  at("pages").hidden = total <= PAGE && state.offset === 0;
  at("range").textContent = total === 0 ? "none" : `${count(state.offset + 1)} to ${count(state.offset + entries.length)} of ${count(total)}`;
  at("back").disabled = state.offset === 0;
  at("on").disabled = state.offset + entries.length >= total;
  table(at("table"), state.list, entries);
}

function showTimeline(told) {
  const times = told.times;
  options(at("timeline-queue"), told.queues, "all queues");
  options(at("queue"), told.queues, "all");
  const chart = at("chart");
  if (times.length < 2) {
    chart.replaceChildren();
    at("chart-text").textContent = "Nothing was seen yet.";
    return;
  }
  const most = Math.max(1, ...times.map((_, i) => told.running[i] + told.suspended[i]));
  const span = 600_000;
  const last = times[times.length - 1];
  const x = i => (1000 * (1 - (last - times[i]) / span)).toFixed(1);
  const y = value => (180 - 170 * value / most).toFixed(1);
  const area = (low, high) => "M" + times.map((_, i) => x(i) + "," + y(high(i))).join("L") + "L"
    + times.map((_, i) => i).reverse().map(i => x(i) + "," + y(low(i))).join("L") + "Z";
  const svg = (tag, attributes) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    Object.entries(attributes).forEach(([name, value]) => element.setAttribute(name, value));
    return element;
  };
  const kills = times.map((_, i) => i).filter(i => told.kills[i] > 0);
  chart.replaceChildren(
    svg("path", {class: "running", d: area(() => 0, i => told.running[i])}),
    svg("path", {class: "suspended", d: area(i => told.running[i], i => told.running[i] + told.suspended[i])}),
    ...kills.map(i => svg("line", {class: "killed", x1: x(i), x2: x(i), y1: 0, y2: 180})));
  const sum = column => column.reduce((all, one) => all + one, 0);
  const end = times.length - 1;
  at("chart-text").textContent = `Now ${plural(told.running[end], "container")} running and ${count(told.suspended[end])} suspended, at most `
    + `${count(most)} together. In ${time((last - times[0]) / 1000)}: ${count(sum(told.suspensions))} suspended, `
    + `${count(sum(told.resumptions))} resumed, ${count(sum(told.kills))} killed.`;
}

// ---- One job ----

function whyHere(job) {
  if (!job) {
    return "Hiatus does not know it: it is over, has not begun, or neither holds nor wants anything.";
  }
  const size = sizeOf(job);
  const priority = job.priority ? " with priority " + count(job.priority) : "";
  return `It has rank ${count(job.rank)}, in ${job.queue}${priority}: about ${time(job.remaining_s)} of work of the whole partition are left`
    + (size ? " (" + size + ")" : "") + `. It should hold ${percent(job.target)} of the partition, and holds ${percent(job.held)}.`;
}

function whySuspended(part, job) {
  const suspended = part.suspended || [];
  const waiting = part.not_parked_yet || [];
  if (!suspended.length) {
    const because = waiting.map(one => one.because).join("; ") || "it holds nothing";
    return job && job.parked ? `It is parked, but nothing of it stands still yet: ${because}.` : "Nothing of it is suspended"
      + (job && job.spared_because ? `, nor will be for others: ${job.spared_because}.` : ".");
  }
  const reasons = [...new Set(suspended.map(one => one.why))];
  return `${plural(suspended.length, "container")} of it ${suspended.length === 1 ? "is" : "are"} suspended: ${reasons.join("; ")}.`;
}

function whenOn(part, job) {
  if (!job) {
    return "–";
  }
  const waits = [...new Set((part.suspended || []).map(one => one.waits_for))];
  const suspended = waits.length ? ` What is suspended waits for ${waits.join("; ")}.` : "";
  return (job.pending + job.suspended === 0 ? "It has all it wants." : `It waits for ${job.blocked_by}.`) + suspended;
}

const NO_FORECAST = {
  "off": "Nothing is forecast: forecast-interval-ms is 0.",
  "observing": "Nothing is forecast while Hiatus only looks on.",
  "awaited": "The first forecast is not made yet.",
  "too-large": "Nothing is forecast: the cluster is larger than forecast-max-size.",
  "failed": "Forecasting failed; the log has more.",
};

function whenOver(part) {
  const about = part.forecast || {};
  const own = (part.forecasts || [])[0];
  if (about.state !== "made") {
    return NO_FORECAST[about.state] || "–";
  }
  if (!own) {
    return "It was not there yet when the last forecast was made.";
  }
  if (own.unknown) {
    return `Not known: ${own.unknown}.`;
  }
  const until = own.latest_s === null ? "further ahead than the forecast looks" : time(own.latest_s);
  const checked = about.held === null ? "No forecast has been checked yet."
    : `So far ${percent(about.held)} of the ends lay in such intervals (${plural(about.checked_jobs, "job")}).`;
  return `Probably in ${time(own.ends_in_s)} (between ${time(own.earliest_s)} and ${until}), if nobody new comes before it. `
    + `It is suspended before in ${percent(own.suspended_before)} of ${about.runs} runs. ${checked}`;
}

/** What runs out, whatever of the job stands still. */
function endsByTheClock(job) {
  const said = [];
  if (job && job.lifetime_left_s !== null) {
    said.push(`YARN ends it in ${time(job.lifetime_left_s)}, at the end of its lifetime, which goes on while it stands still. `);
  }
  if (job && job.parked && job.tokens_left_s !== null) {
    said.push(`One of its delegation tokens is renewed no more in ${time(job.tokens_left_s)}. `);
  }
  return said.join("");
}

function showJob(id, part) {
  const job = (part.jobs || [])[0];
  const parked = Boolean(job && job.parked);
  const park = make("button", {type: "button", id: "park", "aria-pressed": parked}, parked ? "Wake it" : "Park it");
  park.addEventListener("click", () => changeParked(id, !parked));
  const answers = {"Why is it here?": whyHere(job), "Why is it suspended?": whySuspended(part, job), "When will it go on?": whenOn(part, job),
    "When will it end?": endsByTheClock(job) + whenOver(part)};
  const hints = job ? job.wrong_hints : [];
  if (hints.length) {
    answers["What is wrong with its tags?"] = hints.join("; ");
  }
  const claims = part.claims || [];
  if (claims.length) {
    answers["What is kept for it?"] = claims.map(one =>
      `${memory(one.memory_mb)} and ${plural(one.vcores, "vcore")} on ${one.node} for ${time(one.for_ms / 1000)}`).join("; ");
  }
  const phases = job ? job.phases : [];
  const section = at("job");
  const hadFocus = document.activeElement && document.activeElement.id === "park";
  section.replaceChildren(
    make("div", {class: "row"}, make("h2", {}, id), parked ? make("span", {class: "badge"}, "parked") : null,
      part.may_park && job ? park : null, make("a", {href: "/cluster/app/" + id}, "YARN's page of it"), make("a", {href: "#/"}, "All jobs")),
    make("dl", {class: "answers"}, ...Object.entries(answers).flatMap(([question, answer]) => [make("dt", {}, question), make("dd", {}, answer)])),
    ...(phases.length ? [make("h2", {}, "Its tasks"), phaseTable(phases)] : []));
  if ((part.suspended || []).length) {
    const target = make("table");
    table(target, "suspended", part.suspended.slice(0, PAGE), "Application");
    section.append(make("h2", {}, "Its suspended containers"), make("div", {class: "scroll"}, target));
    if (part.suspended.length > PAGE) {
      section.append(quiet("and " + count(part.suspended.length - PAGE) + " more"));
    }
  }
  if (hadFocus && at("park")) {
    at("park").focus();
  }
}

function phaseTable(phases) {
  const columns = [["Priority", phase => phase.priority], ["Container", phase => memory(phase.memory_mb) + ", " + plural(phase.vcores, "vcore")],
    ["Tasks", phase => count(phase.tasks)], ["Done", phase => count(phase.finished)]];
  const row = phase => make("tr", {}, ...columns.map(([, content]) => make("td", {}, String(content(phase)))));
  return make("table", {}, make("thead", {}, make("tr", {}, ...columns.map(([name]) => make("th", {scope: "col"}, name)))),
    make("tbody", {}, ...phases.map(row)));
}

async function changeParked(id, parked) {
  const button = at("park");
  button.disabled = true;
  try {
    await ask("/apps/" + id + "/parked", {}, {method: "PUT", body: String(parked), headers: {"Content-Type": "application/json"}});
    say(parked ? "Parked: what it runs is being suspended" : "Woken: it goes on in its turn");
  } catch (e) {
    say(e.message);
  }
  await refresh();
}

// ---- Round after round ----

let silence = 0;

function say(text) {
  at("said").textContent = text;
  clearTimeout(silence);
  silence = setTimeout(() => at("said").textContent = "", 8000);
}

const jobShown = () => (location.hash.match(/^#\/job\/(application_\d+_\d+)$/) || [])[1];

async function refresh() {
  const round = ++state.round;
  const id = jobShown();
  try {
    if (id) {
      const [told, part] = await Promise.all([ask("", {lists: "claims", limit: 0}), ask("/apps/" + id)]);
      if (round !== state.round) {
        return; // somebody wants something else meanwhile
      }
      showState(told);
      showJob(id, part);
    } else {
      const wanted = {lists: state.list, offset: state.offset, limit: PAGE};
      if (state.queue && state.list === "jobs") {
        wanted.queue = state.queue;
      }
      const [told, line] = await Promise.all([ask("", wanted), ask("/timeline", state.timelineQueue ? {queue: state.timelineQueue} : {})]);
      if (round !== state.round) {
        return;
      }
      const total = (told.totals || {})[state.list] || 0;
      if (state.offset > 0 && state.offset >= total) {
        state.offset = Math.max(0, Math.floor((total - 1) / PAGE) * PAGE);
        return refresh();
      }
      showState(told);
      showHindsight(told);
      showList(told);
      showTimeline(line);
    }
    at("overview").hidden = Boolean(id);
    at("job").hidden = !id;
    document.title = id ? id + " – Hiatus" : "Hiatus";
    state.toldMs = Date.now();
  } catch (e) {
    say(e.message);
  }
  showAge();
}

function showAge() {
  const seconds = (Date.now() - state.toldMs) / 1000;
  at("age").textContent = !state.toldMs ? "" : seconds > 2 * EVERY_MS / 1000 ? "as it was " + time(seconds) + " ago" : "now";
}

function change(what) {
  Object.assign(state, what);
  refresh();
}

function begin() {
  const tabs = [...document.querySelectorAll("[role=tab]")];
  for (const tab of tabs) {
    tab.addEventListener("click", () => change({list: tab.dataset.list, offset: 0}));
    tab.addEventListener("keydown", event => {
      const step = {ArrowRight: 1, ArrowLeft: -1}[event.key];
      if (step) {
        const next = tabs[(tabs.indexOf(tab) + step + tabs.length) % tabs.length];
        next.focus();
        next.click();
      }
    });
  }
  at("back").addEventListener("click", () => change({offset: Math.max(0, state.offset - PAGE)}));
  at("on").addEventListener("click", () => change({offset: state.offset + PAGE}));
  at("queue").addEventListener("change", event => change({queue: event.target.value, offset: 0}));
  at("timeline-queue").addEventListener("change", event => change({timelineQueue: event.target.value}));
  at("hold").addEventListener("click", () => {
    state.held = !state.held;
    at("hold").setAttribute("aria-pressed", state.held);
  });
  addEventListener("hashchange", () => {
    refresh();
    at("main").focus();
  });
  setInterval(() => state.held || document.hidden ? showAge() : refresh(), EVERY_MS);
  refresh();
}

begin();
