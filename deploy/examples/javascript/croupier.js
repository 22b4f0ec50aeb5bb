// What every client of Croupier does: connect, send commands so that they are taken once, follow a table without gaps,
// and check the cards. All bodies are JSON; contracts/schema describes each message.

import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";

import {
  connect,
  credsAuthenticator,
  delay,
  nkeyAuthenticator,
  PermissionViolationError,
  tokenAuthenticator,
  usernamePasswordAuthenticator,
} from "@nats-io/transport-node";

const FIRST_TRY_MS = 500; // no answer for so long: the same bytes again ...
const NEXT_TRY_MS = 1000; // ... and then every second
const TRIES_MAX = 30;

/** The server does not let this user do that. */
export class Denied extends Error {}

/** One connection, as one user. */
export class Client {
  /** Connects as a lobby or operator, or as the players' gateway, with the file `credentials.json`. */
  static async with(file, user) {
    const { url, passwords = {}, seeds = {}, ca } = JSON.parse(await readFile(file, "utf8"));
    const authenticator = seeds[user]
      ? nkeyAuthenticator(Buffer.from(seeds[user]))
      : usernamePasswordAuthenticator(user, passwords[user]);
    return Client.#open(user, url, authenticator, ca && join(dirname(file), ca));
  }

  /** Connects as a player with a file of credentials (`.creds`), as the house gave it out. */
  static async asPlayer(file, player, url, caFile) {
    const creds = await readFile(file);
    const [, token] = /BEGIN NATS USER JWT-+\s*(\S+)/.exec(creds.toString());
    // The house's doorman sees the token; the seed beside it signs what the server asks.
    return Client.#open(player, url, [credsAuthenticator(creds), tokenAuthenticator(token)], caFile);
  }

  static async #open(user, url, authenticator, caFile) {
    const client = new Client();
    client.user = user;
    client.connection = await connect({
      servers: url.split(","),
      authenticator,
      ...(caFile && { tls: { caFile, handshakeFirst: true } }), // nobody between can ask for a signature in clear
      inboxPrefix: `_INBOX.${user}`, // answers to this user go there, and nowhere else
      maxReconnectAttempts: -1,
    });
    await client.connection.flush(); // only now it is certain that the user is let in
    return client;
  }

  /** Asks what there is to know of a table, as `kind` (player, lobby, operator) and by `name`. */
  query(what, room, table, kind, name = this.user) {
    return this.#ask(`query.${what}.${room}.${table}.${kind}.${name}`, "{}");
  }

  /** Sends a command until it is answered: the same bytes each time, under one id, so that it is taken once. */
  command(room, table, kind, command, name = this.user) {
    return this.#ask(`command.${room}.${table}.${kind}.${name}`, JSON.stringify(command));
  }

  /** Sends the same bytes until they are answered. Throws Denied where the server forbids it. */
  async #ask(subject, body) {
    let timeout = FIRST_TRY_MS;
    for (let left = TRIES_MAX; ; left -= 1) {
      const started = Date.now();
      try {
        const answer = (await this.connection.request(subject, body, { timeout })).json();
        if (answer.code !== "busy" || left === 0) return answer;
      } catch (error) {
        if (error.cause instanceof PermissionViolationError) throw new Denied(error.message);
        if (left === 0) throw error;
      }
      // It was `busy`, or nobody was there: services are being replaced.
      await delay(Math.max(0, started + timeout - Date.now()));
      timeout = NEXT_TRY_MS;
    }
  }

  close() {
    return this.connection.close();
  }
}

/** A table as the public view tells it, each commit once and in order. */
export class Table {
  n = 0; // the last commit of which everything is known
  hand = 0; // commands name it
  turn = null; // whose decision is open, with the whole legal range, and `number` for the command
  deck = []; // the hashes of the 52 positions, published before a card was dealt

  constructor(client, room, table, kind) {
    Object.assign(this, { client, room, table, kind });
  }

  /** Listens to the table; to be followed by `flush` before anything happens that is to be seen. */
  subscribe() {
    return this.client.connection.subscribe(`view.${this.room}.${this.table}.public`);
  }

  /** Each view that follows what was seen, or a `gap` and then the whole table; ends with the subscription. */
  async *changes(views) {
    for await (const message of views) {
      const view = message.json();
      if (view.type !== "public" || view.room !== this.room || view.table !== this.table) continue; // not a view of it
      if (view.n <= this.n) continue; // it came twice, or is in the picture that was asked for
      if (view.previous <= this.n) {
        this.#take(view);
        yield view;
      } else {
        yield { type: "gap", n: view.n, previous: view.previous, seen: this.n };
        yield await this.#askUpTo(view.n);
      }
    }
  }

  /** The whole table as it was at commit `n` or later: who answers may be behind what was seen. */
  async #askUpTo(n) {
    for (;;) {
      const picture = await this.client.query("table", this.room, this.table, this.kind);
      if (picture.n >= n) {
        this.deck = picture.deck ?? [];
        this.#take(picture);
        return picture;
      }
    }
  }

  /** What a view and the whole picture both say. Events of types that are not known here are passed over. */
  #take({ n, hand, turn, turn_number: number, events = [] }) {
    this.n = n;
    this.hand = hand;
    this.turn = number ? { ...turn, number } : null;
    for (const event of events) {
      if (event.type === "deck_shuffled") this.deck = event.hashes;
    }
  }
}

/** Throws if one of a player's cards is not what the deck's hashes said before the deal. */
export function check({ table, hand, cards }, deck) {
  for (const { position, card, salt } of cards.cards) {
    const text = `croupier-card-v1|${table}|${hand}|${position}|${card}|${salt}`;
    if (createHash("sha256").update(text).digest("hex") !== deck[position]) throw new Error(`${card} was not in the deck`);
  }
}
