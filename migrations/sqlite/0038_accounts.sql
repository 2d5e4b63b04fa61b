-- A persona has an account on each platform.
CREATE TABLE accounts (
    persona    TEXT NOT NULL,
    platform   TEXT NOT NULL,
    account    TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    PRIMARY KEY (persona, platform)
) STRICT;
INSERT INTO accounts SELECT persona, platform, account, updated_at FROM identities;
DROP TABLE identities;
ALTER TABLE accounts RENAME TO identities;
