-- Ids of messages, channels and accounts say their platform from now on: `discord:1234`. Stored ones are numbers of Discord. What is no number
-- stays: an id with its platform, an empty one, and what the team makes up itself (`command-…`, `terminal`).
--
-- Not here, because they hold no such id: `registrations.scope` (a path), `ledger.subject` and `ratings.subject` (turns, asks, items, meetings),
-- `files.text` (kept as it came), `work_journal` and `approvals` (an approval is for a call as it was made), names of people, and ids of rows.

-- Columns that hold an id and nothing else.
UPDATE identities SET account = 'discord:' || account WHERE account GLOB '[0-9]*' AND account NOT GLOB '*[^0-9]*';
UPDATE channels SET id = 'discord:' || id WHERE id GLOB '[0-9]*' AND id NOT GLOB '*[^0-9]*';
UPDATE channels SET last_message = 'discord:' || last_message WHERE last_message GLOB '[0-9]*' AND last_message NOT GLOB '*[^0-9]*';
UPDATE inbox SET id = 'discord:' || id WHERE id GLOB '[0-9]*' AND id NOT GLOB '*[^0-9]*';
UPDATE inbox SET channel = 'discord:' || channel WHERE channel GLOB '[0-9]*' AND channel NOT GLOB '*[^0-9]*';
UPDATE inbox SET burst = 'discord:' || burst WHERE burst GLOB '[0-9]*' AND burst NOT GLOB '*[^0-9]*';
UPDATE files SET id = 'discord:' || id WHERE id GLOB '[0-9]*' AND id NOT GLOB '*[^0-9]*';
UPDATE files SET message = 'discord:' || message WHERE message GLOB '[0-9]*' AND message NOT GLOB '*[^0-9]*';
UPDATE files SET channel = 'discord:' || channel WHERE channel GLOB '[0-9]*' AND channel NOT GLOB '*[^0-9]*';
UPDATE turns SET message = 'discord:' || message WHERE message GLOB '[0-9]*' AND message NOT GLOB '*[^0-9]*';
UPDATE turns SET chain = 'discord:' || chain WHERE chain GLOB '[0-9]*' AND chain NOT GLOB '*[^0-9]*';
UPDATE turns SET channel = 'discord:' || channel WHERE channel GLOB '[0-9]*' AND channel NOT GLOB '*[^0-9]*';
UPDATE outbox SET channel = 'discord:' || channel WHERE channel GLOB '[0-9]*' AND channel NOT GLOB '*[^0-9]*';
UPDATE outbox SET cause = 'discord:' || cause WHERE cause GLOB '[0-9]*' AND cause NOT GLOB '*[^0-9]*';
UPDATE outbox SET platform_id = 'discord:' || platform_id WHERE platform_id GLOB '[0-9]*' AND platform_id NOT GLOB '*[^0-9]*';
UPDATE asks SET message = 'discord:' || message WHERE message GLOB '[0-9]*' AND message NOT GLOB '*[^0-9]*';
UPDATE asks SET chain = 'discord:' || chain WHERE chain GLOB '[0-9]*' AND chain NOT GLOB '*[^0-9]*';
UPDATE asks SET channel = 'discord:' || channel WHERE channel GLOB '[0-9]*' AND channel NOT GLOB '*[^0-9]*';
UPDATE blocks SET channel = 'discord:' || channel WHERE channel GLOB '[0-9]*' AND channel NOT GLOB '*[^0-9]*';
UPDATE blocks SET chain = 'discord:' || chain WHERE chain GLOB '[0-9]*' AND chain NOT GLOB '*[^0-9]*';
UPDATE cooldowns SET channel = 'discord:' || channel WHERE channel GLOB '[0-9]*' AND channel NOT GLOB '*[^0-9]*';
UPDATE meetings SET channel = 'discord:' || channel WHERE channel GLOB '[0-9]*' AND channel NOT GLOB '*[^0-9]*';
UPDATE reports SET channel = 'discord:' || channel WHERE channel GLOB '[0-9]*' AND channel NOT GLOB '*[^0-9]*';
UPDATE predictions SET channel = 'discord:' || channel WHERE channel GLOB '[0-9]*' AND channel NOT GLOB '*[^0-9]*';
UPDATE ratings SET account = 'discord:' || account WHERE account GLOB '[0-9]*' AND account NOT GLOB '*[^0-9]*';
UPDATE work_items SET channel = 'discord:' || channel WHERE channel GLOB '[0-9]*' AND channel NOT GLOB '*[^0-9]*';
UPDATE reminders SET channel = 'discord:' || channel WHERE channel GLOB '[0-9]*' AND channel NOT GLOB '*[^0-9]*';
UPDATE events SET channel = 'discord:' || channel WHERE channel GLOB '[0-9]*' AND channel NOT GLOB '*[^0-9]*';
UPDATE events SET subject = 'discord:' || subject WHERE topic = 'message' AND subject GLOB '[0-9]*' AND subject NOT GLOB '*[^0-9]*';

-- Keys that end with an id.
UPDATE seats SET who = 'person:discord:' || substr(who, 8) WHERE who GLOB 'person:[0-9]*' AND substr(who, 8) NOT GLOB '*[^0-9]*';
UPDATE work_items SET owner = 'person:discord:' || substr(owner, 8) WHERE owner GLOB 'person:[0-9]*' AND substr(owner, 8) NOT GLOB '*[^0-9]*';
UPDATE events SET actor = 'person:discord:' || substr(actor, 8) WHERE actor GLOB 'person:[0-9]*' AND substr(actor, 8) NOT GLOB '*[^0-9]*';
UPDATE cooldowns SET first = 'person discord:' || substr(first, 8) WHERE first GLOB 'person [0-9]*' AND substr(first, 8) NOT GLOB '*[^0-9]*';
UPDATE cooldowns SET first = 'bot discord:' || substr(first, 5) WHERE first GLOB 'bot [0-9]*' AND substr(first, 5) NOT GLOB '*[^0-9]*';
UPDATE cooldowns SET second = 'person discord:' || substr(second, 8) WHERE second GLOB 'person [0-9]*' AND substr(second, 8) NOT GLOB '*[^0-9]*';
UPDATE cooldowns SET second = 'bot discord:' || substr(second, 5) WHERE second GLOB 'bot [0-9]*' AND substr(second, 5) NOT GLOB '*[^0-9]*';
UPDATE halts SET scope = 'channel:discord:' || substr(scope, 9) WHERE scope GLOB 'channel:[0-9]*' AND substr(scope, 9) NOT GLOB '*[^0-9]*';
UPDATE jobs SET queue = 'chat:discord:' || substr(queue, 6) WHERE queue GLOB 'chat:[0-9]*' AND substr(queue, 6) NOT GLOB '*[^0-9]*';
UPDATE notices SET key = 'offline:discord:' || substr(key, 9) WHERE key GLOB 'offline:[0-9]*' AND substr(key, 9) NOT GLOB '*[^0-9]*';
UPDATE notices SET key = rtrim(key, '0123456789') || 'discord:' || substr(key, length(rtrim(key, '0123456789')) + 1)
    WHERE key GLOB 'silence:*:[0-9]*' AND rtrim(key, '0123456789') GLOB '*:';

-- Documents and texts. SQLite replaces no patterns, so they are rewritten in a table beside: the ids of a document one after another, by the
-- paths that `json_tree` finds, and mentions by their first digits.
CREATE TEMP TABLE documents (field TEXT NOT NULL, row INTEGER NOT NULL, document TEXT NOT NULL, PRIMARY KEY (field, row));
CREATE TEMP TABLE texts (field TEXT NOT NULL, row INTEGER NOT NULL, written TEXT NOT NULL, PRIMARY KEY (field, row));
CREATE TEMP TABLE found (field TEXT NOT NULL, row INTEGER NOT NULL, number INTEGER NOT NULL, path TEXT NOT NULL, id TEXT NOT NULL,
    PRIMARY KEY (field, row, number));
INSERT INTO documents SELECT 'inbox.message', rowid, message FROM inbox WHERE json_valid(message);
INSERT INTO documents SELECT 'inbox.speaker', rowid, speaker FROM inbox WHERE json_valid(speaker);
INSERT INTO documents SELECT 'channels.place', rowid, place FROM channels WHERE json_valid(place);
INSERT INTO documents SELECT 'outbox.message', rowid, message FROM outbox WHERE json_valid(message);
INSERT INTO documents SELECT 'blocks.sender', rowid, sender FROM blocks WHERE json_valid(sender);
INSERT INTO documents SELECT 'meetings.place', rowid, place FROM meetings WHERE json_valid(place);
INSERT INTO documents SELECT 'meetings.called_by', rowid, called_by FROM meetings WHERE json_valid(called_by);
INSERT INTO documents SELECT 'reports.report', rowid, report FROM reports WHERE json_valid(report);
INSERT INTO documents SELECT 'predictions.prediction', rowid, prediction FROM predictions WHERE json_valid(prediction);
INSERT INTO documents SELECT 'work_items.origin', rowid, origin FROM work_items WHERE json_valid(origin);
INSERT INTO documents SELECT 'work_items.execution', rowid, execution FROM work_items WHERE json_valid(execution);
INSERT INTO documents SELECT 'work_items.evidence', rowid, evidence FROM work_items WHERE json_valid(evidence);
INSERT INTO documents SELECT 'memories.source', rowid, source FROM memories WHERE json_valid(source);
INSERT INTO documents SELECT 'reminders.whom', rowid, whom FROM reminders WHERE json_valid(whom);
INSERT INTO documents SELECT 'reminders.asked_by', rowid, asked_by FROM reminders WHERE json_valid(asked_by);
INSERT INTO documents SELECT 'schedules.job', rowid, job FROM schedules WHERE json_valid(job);
INSERT INTO documents SELECT 'jobs.payload', rowid, payload FROM jobs WHERE json_valid(payload);
INSERT INTO documents SELECT 'events.payload', rowid, payload FROM events WHERE json_valid(payload);
INSERT INTO found
SELECT field, row, row_number() OVER (PARTITION BY field, row), tree.fullkey, tree.atom
FROM documents, json_tree(documents.document) tree
WHERE tree.type = 'text' AND tree.atom GLOB '[0-9]*' AND tree.atom NOT GLOB '*[^0-9]*' AND length(tree.atom) <= 20
    AND (tree.key IN ('id', 'message', 'chain', 'channel', 'parent', 'author', 'owner', 'reply_to')
        OR tree.path GLOB '*.mentions' OR tree.path GLOB '*.pings' OR tree.path GLOB '*.roles');
INSERT INTO texts
WITH RECURSIVE rewritten (field, row, number, document) AS (
    SELECT field, row, 0, document FROM documents
    UNION ALL
    SELECT field, row, found.number, json_replace(rewritten.document, found.path, 'discord:' || found.id)
    FROM rewritten JOIN found USING (field, row) WHERE found.number = rewritten.number + 1
)
SELECT field, row, document FROM rewritten
WHERE number = (SELECT COALESCE(MAX(found.number), 0) FROM found WHERE found.field = rewritten.field AND found.row = rewritten.row);
INSERT INTO texts SELECT 'inbox.decision', rowid, decision FROM inbox WHERE decision LIKE '%<user:%' OR decision LIKE '%<channel:%';
INSERT INTO texts SELECT 'turns.reply', rowid, reply FROM turns WHERE reply LIKE '%<user:%' OR reply LIKE '%<channel:%';
INSERT INTO texts SELECT 'turns.follow_up', rowid, follow_up FROM turns WHERE follow_up LIKE '%<user:%' OR follow_up LIKE '%<channel:%';
INSERT INTO texts SELECT 'asks.question', rowid, question FROM asks WHERE question LIKE '%<user:%' OR question LIKE '%<channel:%';
INSERT INTO texts SELECT 'asks.answer', rowid, answer FROM asks WHERE answer LIKE '%<user:%' OR answer LIKE '%<channel:%';
INSERT INTO texts SELECT 'seats.contribution', rowid, contribution FROM seats WHERE contribution LIKE '%<user:%' OR contribution LIKE '%<channel:%';
INSERT INTO texts SELECT 'work_items.what', rowid, what FROM work_items WHERE what LIKE '%<user:%' OR what LIKE '%<channel:%';
INSERT INTO texts SELECT 'work_items.how', rowid, how FROM work_items WHERE how LIKE '%<user:%' OR how LIKE '%<channel:%';
INSERT INTO texts SELECT 'work_items.why', rowid, why FROM work_items WHERE why LIKE '%<user:%' OR why LIKE '%<channel:%';
INSERT INTO texts SELECT 'work_items.outcome', rowid, outcome FROM work_items WHERE outcome LIKE '%<user:%' OR outcome LIKE '%<channel:%';
INSERT INTO texts SELECT 'work_items.product', rowid, product FROM work_items WHERE product LIKE '%<user:%' OR product LIKE '%<channel:%';
INSERT INTO texts SELECT 'memories.text', rowid, text FROM memories WHERE text LIKE '%<user:%' OR text LIKE '%<channel:%';
INSERT INTO texts SELECT 'reminders.what', rowid, what FROM reminders WHERE what LIKE '%<user:%' OR what LIKE '%<channel:%';
INSERT INTO texts SELECT 'firings.action', rowid, action FROM firings WHERE action LIKE '%<user:%' OR action LIKE '%<channel:%';
UPDATE texts SET written = replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(written
    , '<user:0', '<user:discord:0'), '<user:1', '<user:discord:1'), '<user:2', '<user:discord:2')
    , '<user:3', '<user:discord:3'), '<user:4', '<user:discord:4'), '<user:5', '<user:discord:5')
    , '<user:6', '<user:discord:6'), '<user:7', '<user:discord:7')
    , '<user:8', '<user:discord:8'), '<user:9', '<user:discord:9')
    WHERE written LIKE '%<user:%';
UPDATE texts SET written = replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(written
    , '<channel:0', '<channel:discord:0'), '<channel:1', '<channel:discord:1'), '<channel:2', '<channel:discord:2')
    , '<channel:3', '<channel:discord:3'), '<channel:4', '<channel:discord:4'), '<channel:5', '<channel:discord:5')
    , '<channel:6', '<channel:discord:6'), '<channel:7', '<channel:discord:7')
    , '<channel:8', '<channel:discord:8'), '<channel:9', '<channel:discord:9')
    WHERE written LIKE '%<channel:%';
UPDATE inbox SET message = written FROM texts WHERE field = 'inbox.message' AND row = inbox.rowid AND message <> written;
UPDATE inbox SET speaker = written FROM texts WHERE field = 'inbox.speaker' AND row = inbox.rowid AND speaker <> written;
UPDATE channels SET place = written FROM texts WHERE field = 'channels.place' AND row = channels.rowid AND place <> written;
UPDATE outbox SET message = written FROM texts WHERE field = 'outbox.message' AND row = outbox.rowid AND message <> written;
UPDATE blocks SET sender = written FROM texts WHERE field = 'blocks.sender' AND row = blocks.rowid AND sender <> written;
UPDATE meetings SET place = written FROM texts WHERE field = 'meetings.place' AND row = meetings.rowid AND place <> written;
UPDATE meetings SET called_by = written FROM texts WHERE field = 'meetings.called_by' AND row = meetings.rowid AND called_by <> written;
UPDATE reports SET report = written FROM texts WHERE field = 'reports.report' AND row = reports.rowid AND report <> written;
UPDATE predictions SET prediction = written FROM texts WHERE field = 'predictions.prediction' AND row = predictions.rowid AND prediction <> written;
UPDATE work_items SET origin = written FROM texts WHERE field = 'work_items.origin' AND row = work_items.rowid AND origin <> written;
UPDATE work_items SET execution = written FROM texts WHERE field = 'work_items.execution' AND row = work_items.rowid AND execution <> written;
UPDATE work_items SET evidence = written FROM texts WHERE field = 'work_items.evidence' AND row = work_items.rowid AND evidence <> written;
UPDATE memories SET source = written FROM texts WHERE field = 'memories.source' AND row = memories.rowid AND source <> written;
UPDATE reminders SET whom = written FROM texts WHERE field = 'reminders.whom' AND row = reminders.rowid AND whom <> written;
UPDATE reminders SET asked_by = written FROM texts WHERE field = 'reminders.asked_by' AND row = reminders.rowid AND asked_by <> written;
UPDATE schedules SET job = written FROM texts WHERE field = 'schedules.job' AND row = schedules.rowid AND job <> written;
UPDATE jobs SET payload = written FROM texts WHERE field = 'jobs.payload' AND row = jobs.rowid AND payload <> written;
UPDATE events SET payload = written FROM texts WHERE field = 'events.payload' AND row = events.rowid AND payload <> written;
UPDATE inbox SET decision = written FROM texts WHERE field = 'inbox.decision' AND row = inbox.rowid AND decision <> written;
UPDATE turns SET reply = written FROM texts WHERE field = 'turns.reply' AND row = turns.rowid AND reply <> written;
UPDATE turns SET follow_up = written FROM texts WHERE field = 'turns.follow_up' AND row = turns.rowid AND follow_up <> written;
UPDATE asks SET question = written FROM texts WHERE field = 'asks.question' AND row = asks.rowid AND question <> written;
UPDATE asks SET answer = written FROM texts WHERE field = 'asks.answer' AND row = asks.rowid AND answer <> written;
UPDATE seats SET contribution = written FROM texts WHERE field = 'seats.contribution' AND row = seats.rowid AND contribution <> written;
UPDATE work_items SET what = written FROM texts WHERE field = 'work_items.what' AND row = work_items.rowid AND what <> written;
UPDATE work_items SET how = written FROM texts WHERE field = 'work_items.how' AND row = work_items.rowid AND how <> written;
UPDATE work_items SET why = written FROM texts WHERE field = 'work_items.why' AND row = work_items.rowid AND why <> written;
UPDATE work_items SET outcome = written FROM texts WHERE field = 'work_items.outcome' AND row = work_items.rowid AND outcome <> written;
UPDATE work_items SET product = written FROM texts WHERE field = 'work_items.product' AND row = work_items.rowid AND product <> written;
UPDATE memories SET text = written FROM texts WHERE field = 'memories.text' AND row = memories.rowid AND text <> written;
UPDATE reminders SET what = written FROM texts WHERE field = 'reminders.what' AND row = reminders.rowid AND what <> written;
UPDATE firings SET action = written FROM texts WHERE field = 'firings.action' AND row = firings.rowid AND action <> written;
DROP TABLE documents;
DROP TABLE texts;
DROP TABLE found;
