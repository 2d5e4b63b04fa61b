-- How the items were that a cancellation ended, so that it can be taken back. `root` is the item that a person cancelled.
CREATE TABLE cancelled_items (
    root       TEXT NOT NULL,
    item       TEXT NOT NULL,
    status     TEXT NOT NULL,
    wait       TEXT,
    not_before TIMESTAMPTZ,
    at         TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (root, item)
);
CREATE INDEX cancelled_items_item ON cancelled_items (item, at);
CREATE INDEX cancelled_items_at ON cancelled_items (at);
