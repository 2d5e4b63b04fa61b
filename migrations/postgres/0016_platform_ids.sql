-- Ids of messages, channels and accounts say their platform from now on: `discord:1234`. Stored ones are numbers of Discord. What is no number
-- stays: an id with its platform, an empty one, and what the team makes up itself (`command-…`, `terminal`).
--
-- Not here, because they hold no such id: `registrations.scope` (a path), `ledger.subject` and `ratings.subject` (turns, asks, items, meetings),
-- `files.text` (kept as it came), `work_journal` and `approvals` (an approval is for a call as it was made), names of people, and ids of rows.

-- A table may be large.
SET LOCAL statement_timeout = 0;

CREATE FUNCTION pg_temp.with_platform(id TEXT) RETURNS TEXT LANGUAGE sql IMMUTABLE AS
    $$ SELECT regexp_replace(id, '^([0-9]+)$', 'discord:\1') $$;
-- A key whose end is an id: `person:1234`.
CREATE FUNCTION pg_temp.key_with_platform(key TEXT) RETURNS TEXT LANGUAGE sql IMMUTABLE AS
    $$ SELECT regexp_replace(key, '^(person:|person |bot |channel:|chat:|offline:|silence:.*:)([0-9]+)$', '\1discord:\2') $$;
-- Mentions in a text.
CREATE FUNCTION pg_temp.text_with_platform(said TEXT) RETURNS TEXT LANGUAGE sql IMMUTABLE AS
    $$ SELECT regexp_replace(said, '<(user|channel):([0-9]+)>', '<\1:discord:\2>', 'g') $$;
-- A JSON document. A quote within a text stands after a backslash, so what is replaced are members of objects.
CREATE FUNCTION pg_temp.document_with_platform(document TEXT) RETURNS TEXT LANGUAGE sql IMMUTABLE AS $$
    SELECT pg_temp.text_with_platform(
        regexp_replace(document, '"(id|message|chain|channel|parent|author|owner|reply_to)":"([0-9]{1,20})"', '"\1":"discord:\2"', 'g'))
$$;
-- The document of a message. Its lists of numbers are `mentions`, `pings` and `roles`.
CREATE FUNCTION pg_temp.message_with_platform(message TEXT) RETURNS TEXT LANGUAGE sql IMMUTABLE AS $$
    SELECT pg_temp.document_with_platform(regexp_replace(message, '([[,])"([0-9]{1,20})"(?=[],])', '\1"discord:\2"', 'g'))
$$;

UPDATE identities SET account = pg_temp.with_platform(account);
UPDATE channels SET
    id = pg_temp.with_platform(id),
    last_message = pg_temp.with_platform(last_message),
    place = pg_temp.document_with_platform(place);
UPDATE inbox SET
    id = pg_temp.with_platform(id),
    channel = pg_temp.with_platform(channel),
    burst = pg_temp.with_platform(burst),
    message = pg_temp.message_with_platform(message),
    speaker = pg_temp.document_with_platform(speaker),
    decision = pg_temp.text_with_platform(decision);
UPDATE files SET
    id = pg_temp.with_platform(id),
    message = pg_temp.with_platform(message),
    channel = pg_temp.with_platform(channel);
UPDATE turns SET
    message = pg_temp.with_platform(message),
    chain = pg_temp.with_platform(chain),
    channel = pg_temp.with_platform(channel),
    reply = pg_temp.text_with_platform(reply),
    follow_up = pg_temp.text_with_platform(follow_up);
UPDATE outbox SET
    channel = pg_temp.with_platform(channel),
    cause = pg_temp.with_platform(cause),
    platform_id = pg_temp.with_platform(platform_id),
    message = pg_temp.message_with_platform(message);
UPDATE asks SET
    message = pg_temp.with_platform(message),
    chain = pg_temp.with_platform(chain),
    channel = pg_temp.with_platform(channel),
    question = pg_temp.text_with_platform(question),
    answer = pg_temp.text_with_platform(answer);
UPDATE blocks SET
    channel = pg_temp.with_platform(channel),
    chain = pg_temp.with_platform(chain),
    sender = pg_temp.document_with_platform(sender);
UPDATE cooldowns SET
    channel = pg_temp.with_platform(channel),
    first = pg_temp.key_with_platform(first),
    second = pg_temp.key_with_platform(second);
UPDATE meetings SET
    channel = pg_temp.with_platform(channel),
    place = pg_temp.document_with_platform(place),
    called_by = pg_temp.document_with_platform(called_by);
UPDATE reports SET
    channel = pg_temp.with_platform(channel),
    report = pg_temp.document_with_platform(report);
UPDATE predictions SET
    channel = pg_temp.with_platform(channel),
    prediction = pg_temp.document_with_platform(prediction);
UPDATE ratings SET account = pg_temp.with_platform(account);
UPDATE work_items SET
    channel = pg_temp.with_platform(channel),
    owner = pg_temp.key_with_platform(owner),
    origin = pg_temp.document_with_platform(origin),
    execution = pg_temp.document_with_platform(execution),
    evidence = pg_temp.document_with_platform(evidence),
    what = pg_temp.text_with_platform(what),
    how = pg_temp.text_with_platform(how),
    why = pg_temp.text_with_platform(why),
    outcome = pg_temp.text_with_platform(outcome),
    product = pg_temp.text_with_platform(product);
UPDATE reminders SET
    channel = pg_temp.with_platform(channel),
    whom = pg_temp.document_with_platform(whom),
    asked_by = pg_temp.document_with_platform(asked_by),
    what = pg_temp.text_with_platform(what);
UPDATE events SET
    channel = pg_temp.with_platform(channel),
    actor = pg_temp.key_with_platform(actor),
    payload = pg_temp.document_with_platform(payload),
    subject = CASE WHEN topic = 'message' THEN pg_temp.with_platform(subject) ELSE subject END;
UPDATE seats SET
    who = pg_temp.key_with_platform(who),
    contribution = pg_temp.text_with_platform(contribution);
UPDATE halts SET scope = pg_temp.key_with_platform(scope);
UPDATE jobs SET
    queue = pg_temp.key_with_platform(queue),
    payload = pg_temp.document_with_platform(payload);
UPDATE notices SET key = pg_temp.key_with_platform(key);
UPDATE memories SET
    source = pg_temp.document_with_platform(source),
    text = pg_temp.text_with_platform(text);
UPDATE schedules SET job = pg_temp.document_with_platform(job);
UPDATE firings SET action = pg_temp.text_with_platform(action);
