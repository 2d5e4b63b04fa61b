-- What somebody should do about an insight.
ALTER TABLE insights ADD COLUMN task TEXT;
