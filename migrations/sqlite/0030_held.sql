-- Messages that wait for a permission.
CREATE INDEX outbox_held ON outbox (next_attempt_at) WHERE state = 'held';
