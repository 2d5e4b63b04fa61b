-- Where the running team serves the kanban page: the address of its server, and what people open. One row.
CREATE TABLE kanban_page (
    id      INTEGER PRIMARY KEY CHECK (id = 1),
    address TEXT NOT NULL,
    url     TEXT NOT NULL
) STRICT;
