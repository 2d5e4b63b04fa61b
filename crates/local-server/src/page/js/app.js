// Starts the page: reads the account from the sandbox, connects, and renders after the first events.

import { Page } from "./page.js";
import { Discord } from "./protocol/discord/discord.js";
import { Slack } from "./protocol/slack/slack.js";
import { readJson } from "./state/reads.js";
import { Store } from "./state/store.js";

// Each tab may be its own person. A new tab begins with the person who was chosen last.
const PERSON = "teamroom.person";
// A shorter reconnect is not shown.
const QUIET_MS = 800;

const line = document.getElementById("connection");
let lineTimer = 0;

function say(text) {
  clearTimeout(lineTimer);
  lineTimer = setTimeout(
    () => {
      line.textContent = text;
      line.hidden = !text;
    },
    text ? QUIET_MS : 0,
  );
}

const STATUS = {
  connecting: "Connecting…",
  online: "",
  reconnecting: "Reconnecting…",
  refused: "The sandbox does not know this account any more. Reload the page.",
};

async function fetchInfo() {
  return (await fetch("/sandbox/info")).json();
}

/** The person of this tab, who stays that person when another tab chooses somebody else. */
function findPerson(people) {
  const known = (id) => people.find((person) => person.id === id);
  const me = known(readJson(PERSON, sessionStorage)) ?? known(readJson(PERSON)) ?? people[0];
  sessionStorage.setItem(PERSON, JSON.stringify(me.id));
  return me;
}

async function start() {
  const info = await fetchInfo();
  const me = findPerson(info.people);
  const store = new Store();
  const service = info.platform === "slack" ? await Slack.start(me) : new Discord(me, store);
  const become = (id) => {
    for (const storage of [sessionStorage, localStorage]) storage.setItem(PERSON, JSON.stringify(id));
    location.reload();
  };
  const page = new Page({ store, service, info, become });
  service.addEventListener("dispatch", ({ detail }) => store.apply(detail.type, detail.data));
  service.addEventListener("status", ({ detail }) => say(STATUS[detail]));
  service.addEventListener("status", ({ detail }) => detail === "refused" && startAnewIfReset(me));
  let drawn = false;
  store.on("guild", () => {
    if (!drawn) page.start();
    drawn = true;
    document.body.classList.remove("starting");
  });
  service.connect();
}

/** After a reset of the sandbox everybody has a new token. */
async function startAnewIfReset(me) {
  const { people } = await fetchInfo();
  if (!people.some((person) => person.token === me.token)) location.reload();
}

// A fault in a view would leave an empty page.
addEventListener("error", () => {
  if (document.body.classList.contains("starting"))
    say("This page could not start. Reload it, or try another browser.");
});

start().catch((error) => {
  say("The sandbox does not answer. Start it with “teamroom sandbox”, then reload this page.");
  console.error(error);
});
