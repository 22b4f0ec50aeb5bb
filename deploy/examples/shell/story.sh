#!/usr/bin/env bash
# A lobby and two players, from a shell: NATS is lines of text over TCP, and all bodies are JSON.
#
# usage: story.sh CREDENTIALS [TABLE]     with the credentials.json of `croupier serve all --data room`
#
# Needs bash 4.3 or newer, grep and sha256sum. Over TLS, which a shell does not speak, see the example in JavaScript.
set -euo pipefail
export LC_ALL=C # NATS counts bytes

credentials=$(tr -d ' \n' <"${1:?usage: story.sh CREDENTIALS [TABLE]}")
table=${2:-shell-$$}
tries_max=30
view_seconds_max=30

fail() {
  printf '%s\n' "$*" >&2
  exit 1
}

# The first value of a field in a JSON text that was written without blanks.
field() { # NAME JSON
  [[ $2 =~ \"$1\":(\"([^\"]*)\"|[0-9]+|true|false) ]] || fail "a field is missing: $1"
  printf '%s' "${BASH_REMATCH[2]:-${BASH_REMATCH[1]}}"
}

# --- NATS -------------------------------------------------------------------------------------------------------------

# Prints every message that comes in on a connection as one line: its subject and its body.
listen() { # SOCKET
  local line words body
  while IFS= read -r line; do
    read -ra words <<<"${line%$'\r'}"
    case ${words[0]:-} in
      PING) printf 'PONG\r\n' >&"$1" ;; # who does not answer within two seconds is cut off
      MSG | HMSG)
        read -r -N "${words[-1]}" body
        read -r
        # A message with headers alone is the server's: nobody is there who could answer.
        [[ ${words[0]} == MSG ]] || body=""
        printf '%s %s\n' "${words[1]}" "$body"
        ;;
      -ERR) printf -- '-ERR %s\n' "${line%$'\r'}" ;;
    esac
  done <&"$1"
}

listeners=()
trap '((${#listeners[@]} == 0)) || kill "${listeners[@]}" 2>/dev/null || true' EXIT

# Connects as a user; SOCKET and MAIL are set to where it is written to and read from.
connect() { # USER
  local address password
  address=$(field url "$credentials" | grep -oE '[^/]+:[0-9]+')
  password=$(field "$1" "$credentials")
  exec {SOCKET}<>"/dev/tcp/${address%:*}/${address##*:}"
  exec {MAIL}< <(listen "$SOCKET")
  listeners+=("$!")
  printf 'CONNECT {"user":"%s","pass":"%s","verbose":false,"headers":true,"no_responders":true}\r\n' \
    "$1" "$password" >&"$SOCKET"
  printf 'SUB _INBOX.%s.* 1\r\n' "$1" >&"$SOCKET" # where answers to this user may go, and nowhere else
}

views=()          # those that came while an answer was awaited
declare -A begun=() # by connection: the beginning of a message whose end has not come yet

# The next message of a connection in SUBJECT and BODY; fails if none comes in time.
receive() { # MAIL SECONDS
  local line="" status=0
  read -r -t "$2" -u "$1" line || status=$?
  line=${begun[$1]:-}$line
  begun[$1]=""
  if ((status != 0)); then
    ((status > 128)) || fail "the server hung up"
    begun[$1]=$line
    return 1
  fi
  read -r SUBJECT BODY <<<"$line"
  [[ $SUBJECT != -ERR ]] || fail "the server says: $BODY"
}

requests=0

# Sends a request and waits for what answers it, in ANSWER. Where no answer comes, whoever should answer may just be
# replaced: the same bytes are sent again, after half a second and then every second.
request() { # SOCKET MAIL USER SUBJECT BODY
  local inbox="_INBOX.$3.$((++requests))" patience=0.5 tries
  for ((tries = 0; tries < tries_max; tries++)); do
    printf 'PUB %s %s %d\r\n%s\r\n' "$4" "$inbox" "${#5}" "$5" >&"$1"
    while receive "$2" "$patience"; do
      if [[ $SUBJECT == _INBOX.* ]]; then
        [[ $SUBJECT == "$inbox" && -n $BODY && $BODY != *'"code":"busy"'* ]] || continue
        ANSWER=$BODY
        return
      fi
      views+=("$BODY")
    done
    patience=1
  done
  fail "nobody answers $4"
}

# --- Croupier ---------------------------------------------------------------------------------------------------------

# Sends a command, and says what became of it.
command_as() { # KIND NAME COMMAND
  local said
  if [[ $1 == lobby ]]; then
    request "$lobby" "$lobby_mail" lobby "command.main.$table.lobby.lobby" "$3"
  else
    request "$players" "$players_mail" players "command.main.$table.player.$2" "$3"
  fi
  said="$2: $(field type "$3") $(field type "$ANSWER")"
  if [[ $ANSWER == *'"type":"rejected"'* ]]; then
    printf '%s, %s: %s\n' "$said" "$(field code "$ANSWER")" "$(field message "$ANSWER")"
  else
    printf '%s at commit %s\n' "$said" "$(field n "$ANSWER")"
  fi
}

seen=0 # the last commit of which everything is known
hand=0 # the hand that this client has seen; commands name it
turn=0 # the number of the turn that is open, and whose it is
turn_seat=0

# The next public view, in VIEW.
next_view() {
  if ((${#views[@]})); then
    VIEW=${views[0]}
    views=("${views[@]:1}")
  else
    receive "$lobby_mail" "$view_seconds_max" || fail "no view came in $view_seconds_max s"
    [[ $SUBJECT == view.* ]] || next_view # an answer that came twice
    VIEW=$BODY
  fi
}

# Takes one public view in; if one before it is missing, asks for the whole table instead.
follow() {
  next_view
  (($(field n "$VIEW") > seen)) || return 0 # it came twice, or is in the picture that was asked for
  if (($(field previous "$VIEW") <= seen)); then
    printf 'view %s: %s\n' "$(field n "$VIEW")" \
      "$(grep -oE '\{"type":"[a-z_]+"' <<<"${VIEW#*\"events\"}" | cut -d'"' -f4 | paste -sd' ')"
  else
    printf 'view %s follows %s, and the last one here was %s: a gap\n' \
      "$(field n "$VIEW")" "$(field previous "$VIEW")" "$seen"
    ask_for_table "$(field n "$VIEW")"
    printf 'the whole table after commit %s: pot %s\n' "$(field n "$VIEW")" "$(field pot "$VIEW")"
  fi
  take_view
}

# The whole table as it was at a commit or later, in VIEW: what answers may be behind what was seen.
ask_for_table() { # COMMIT
  VIEW='"n":0'
  while (($(field n "$VIEW") < $1)); do
    request "$lobby" "$lobby_mail" lobby "query.table.main.$table.lobby.lobby" '{}'
    VIEW=$ANSWER
  done
}

# What a view and the whole table both say. Events of types that this script does not know are passed over.
take_view() {
  seen=$(field n "$VIEW")
  hand=$(field hand "$VIEW")
  if [[ $VIEW == *'"turn_number":'* ]]; then
    turn=$(field turn_number "$VIEW")
    turn_seat=$(seat_of_turn)
  fi
}

seat_of_turn() {
  [[ $VIEW =~ \"turn\":\{\"seat\":([0-9]+) ]] && printf '%s' "${BASH_REMATCH[1]}"
}

follow_to() { # COMMIT
  while ((seen < $1)); do follow; done
}

VIEW=""

follow_until() { # EVENT
  until [[ $VIEW == *"{\"type\":\"$1\""* ]]; do follow; done
}

# A player's cards are those that were fixed before the deal if their hashes were published with the deck.
check_cards() { # OWN_CARDS DECK
  local rest=$1 hashes hash cards=()
  mapfile -t hashes < <(grep -oE '"[0-9a-f]{64}"' <<<"${2#*\"hashes\"}" | tr -d '"')
  while [[ $rest =~ \"position\":([0-9]+),\"card\":\"(..)\",\"salt\":\"([0-9a-f]+)\" ]]; do
    rest=${rest#*"${BASH_REMATCH[0]}"}
    hash=$(printf 'croupier-card-v1|%s|%s|%s|%s|%s' "$table" "$(field hand "$1")" "${BASH_REMATCH[@]:1:3}" | sha256sum)
    [[ ${hash%% *} == "${hashes[BASH_REMATCH[1]]}" ]] || fail "${BASH_REMATCH[2]} was not in the deck"
    cards+=("${BASH_REMATCH[2]}")
  done
  printf 'ann holds %s, as the deck was before it was dealt\n' "${cards[*]}"
}

# --- the story --------------------------------------------------------------------------------------------------------

connect lobby && lobby=$SOCKET lobby_mail=$MAIL
connect players && players=$SOCKET players_mail=$MAIL # the house's own gateway: it acts for every player
printf 'SUB view.main.%s.public 2\r\n' "$table" >&"$lobby"

config='{"variant":"holdem","limit":"no_limit","stakes":{"small_blind":50,"big_blind":100},"seats":2'
config+=',"buy_in":{"minimum":4000,"maximum":20000}}'
command_as lobby lobby '{"type":"open_table","id":"open-1","config":'"$config"'}'
command_as lobby lobby '{"type":"take_seat","id":"seat-1","player":"ann","buy_in":10000}'
command_as lobby lobby '{"type":"take_seat","id":"seat-2","player":"bob","buy_in":10000}'
# Was the answer lost? The same bytes again get the same answer, and bob has one seat.
command_as lobby lobby '{"type":"take_seat","id":"seat-2","player":"bob","buy_in":10000}'

follow_until hole_cards_dealt
printf 'turn %s is that of seat %s\n' "$turn" "$turn_seat"
request "$players" "$players_mail" players "query.cards.main.$table.player.ann" '{}'
check_cards "$ANSWER" "$VIEW"

command_as player bob '{"type":"act","id":"bob-1","hand":'"$hand"',"turn":'"$turn"',"action":"call"}'
command_as player ann '{"type":"act","id":"ann-1","hand":'"$hand"',"turn":'"$turn"',"action":"call"}'
next_view # and it is lost, as a network may lose it

command_as lobby lobby '{"type":"pause_table","id":"pause-1","hand":'"$hand"',"reason":"the last hand"}'
follow_to "$(field n "$ANSWER")"
printf 'turn %s is that of seat %s\n' "$turn" "$turn_seat"
command_as player bob '{"type":"act","id":"bob-2","hand":'"$hand"',"turn":'"$turn"',"action":"fold"}'
follow_until hand_ended
command_as lobby lobby '{"type":"close_table","id":"close-1","hand":'"$hand"'}'
follow_until table_closed
