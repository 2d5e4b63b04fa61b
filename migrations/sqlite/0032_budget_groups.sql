-- Calls that share a budget: those about a mission and about its steps. The sums stand in the ledger.
CREATE TABLE budget_groups (
    subject TEXT PRIMARY KEY,
    whole   TEXT NOT NULL
) STRICT;
CREATE INDEX budget_groups_whole ON budget_groups (whole);
