// A lobby opens a table and seats two players, one acts out of turn, a view is lost: the same story as in the shell.
//
// usage: node story.js CREDENTIALS [TABLE]
//        node story.js CREDENTIALS TABLE LOBBY ANN.creds BOB.creds
//
// The first on the credentials.json of a server of one's own, with passwords. The second on a house's server, over TLS:
// CREDENTIALS is the lobby's, and each player comes with the own credentials.

import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";

import { check, Client, Table } from "./croupier.js";

const [credentials, name = `js-${process.pid}`, user = "lobby", ...creds] = process.argv.slice(2);
if (!credentials) throw new Error("usage: node story.js CREDENTIALS [TABLE [LOBBY ANN.creds BOB.creds]]");

const lobby = await Client.with(credentials, user);
const [ann, bob] = await players();
const table = new Table(lobby, "main", name, "lobby");
const changes = table.changes(losingOne(table.subscribe()));
const own = ann.connection.subscribe(`view.main.${name}.player.ann`);
// The server knows of a subscription before anything happens that it should see.
await Promise.all([lobby.connection.flush(), ann.connection.flush()]);

await send(lobby, "lobby", {
  type: "open_table",
  id: "open-1",
  config: {
    variant: "holdem",
    limit: "no_limit",
    stakes: { small_blind: 50, big_blind: 100 },
    seats: 2,
    buy_in: { minimum: 4000, maximum: 20000 },
  },
});
await send(lobby, "lobby", { type: "take_seat", id: "seat-1", player: "ann", buy_in: 10000 });
await send(lobby, "lobby", { type: "take_seat", id: "seat-2", player: "bob", buy_in: 10000 });
// Was the answer lost? The same bytes again get the same answer, and bob has one seat.
await send(lobby, "lobby", { type: "take_seat", id: "seat-2", player: "bob", buy_in: 10000 });

await follow(() => table.turn);
sayTurn();
for await (const message of own) {
  const mine = message.json();
  if (mine.type !== "own_cards" || mine.player !== "ann" || mine.hand !== table.hand) continue;
  check(mine, table.deck);
  console.log(`ann holds ${mine.cards.cards.map(({ card }) => card).join(" ")}, as the deck was before it was dealt`);
  break;
}

const { hand, turn } = table;
await send(bob, "player", { type: "act", id: "bob-1", hand, turn: turn.number, action: "call" }, "bob");
await send(ann, "player", { type: "act", id: "ann-1", hand, turn: turn.number, action: "call" }, "ann");

const { n } = await send(lobby, "lobby", { type: "pause_table", id: "pause-1", hand, reason: "the last hand" });
await follow(() => table.n >= n);
sayTurn();
await send(bob, "player", { type: "act", id: "bob-2", hand, turn: table.turn.number, action: "fold" }, "bob");
await follow((change) => change.events?.some(({ type }) => type === "hand_ended"));
await send(lobby, "lobby", { type: "close_table", id: "close-1", hand });
await follow((change) => change.events?.some(({ type }) => type === "table_closed"));
await Promise.all([...new Set([lobby, ann, bob])].map((client) => client.close()));

/** Connections as ann and as bob; on a server of one's own the house's gateway acts for both. */
async function players() {
  if (creds.length === 0) {
    const gateway = await Client.with(credentials, "players");
    return [gateway, gateway];
  }
  const { url, ca } = JSON.parse(await readFile(credentials, "utf8"));
  const caFile = join(dirname(credentials), ca);
  return Promise.all(["ann", "bob"].map((player, at) => Client.asPlayer(creds[at], player, url, caFile)));
}

/** Sends a command, and says what became of it. */
async function send(client, kind, command, as = client.user) {
  const answer = await client.command("main", name, kind, command, as);
  const said = `${kind === "lobby" ? kind : as}: ${command.type} ${answer.type}`;
  if (answer.type === "rejected") console.log(`${said}, ${answer.code}: ${answer.message}`);
  else console.log(`${said} at commit ${answer.n}`);
  return answer;
}

/** A network that loses one view: the first that tells of a decision. */
async function* losingOne(views) {
  let lost = false;
  for await (const view of views) {
    if (lost || !view.json().events?.some(({ type }) => type === "action_taken")) yield view;
    else lost = true;
  }
}

/** Follows the table until something is so. */
async function follow(enough) {
  for (let change; ; ) {
    ({ value: change } = await changes.next());
    if (change.type === "gap") {
      console.log(`view ${change.n} follows ${change.previous}, and the last one here was ${change.seen}: a gap`);
    } else if (change.type === "table") {
      console.log(`the whole table after commit ${change.n}: pot ${change.pot}`);
    } else {
      console.log(`view ${change.n}: ${change.events.map(({ type }) => type).join(" ")}`);
    }
    if (change.type !== "gap" && enough(change)) return;
  }
}

function sayTurn() {
  console.log(`turn ${table.turn.number} is that of seat ${table.turn.seat}`);
}
