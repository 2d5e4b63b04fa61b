-- The message of a person that pays for a call, with all that follows from it. Null: no message does.
ALTER TABLE ledger ADD COLUMN chain TEXT;
CREATE INDEX ledger_chain ON ledger (chain) WHERE chain IS NOT NULL;

-- Calls of tools that a person is asked to allow below an answer. Each is made at most once.
CREATE TABLE chat_approvals (
    id         TEXT PRIMARY KEY,
    -- The message that the turn answers. Its author decides, or an operator.
    message    TEXT NOT NULL,
    asker      TEXT NOT NULL,
    channel    TEXT NOT NULL,
    persona    TEXT NOT NULL,
    tool       TEXT NOT NULL,
    arguments  TEXT NOT NULL,
    state      TEXT NOT NULL,
    decided_by TEXT,
    asked_at   TIMESTAMPTZ NOT NULL,
    decided_at TIMESTAMPTZ
);
CREATE INDEX chat_approvals_message ON chat_approvals (message);
CREATE INDEX chat_approvals_asked ON chat_approvals (asked_at);
