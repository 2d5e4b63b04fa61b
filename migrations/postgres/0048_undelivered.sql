-- Messages that were given up, for the status of the team.
CREATE INDEX outbox_failed ON outbox (created_at) WHERE state = 'failed';
