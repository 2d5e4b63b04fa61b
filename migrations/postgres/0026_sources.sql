-- What a message has taught goes with the message.
CREATE INDEX memories_source ON memories (source);
