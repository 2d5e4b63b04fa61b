-- A persona has an account on each platform.
ALTER TABLE identities DROP CONSTRAINT identities_pkey, ADD PRIMARY KEY (persona, platform);
