-- What the team has answered since a time, for what colleagues have found out.
CREATE INDEX outbox_answers ON outbox (created_at) WHERE kind = 'answer' AND state <> 'failed' AND deleted_at IS NULL;
