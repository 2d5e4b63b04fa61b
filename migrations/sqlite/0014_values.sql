-- Mentions of accounts and channels, and small print, are values in texts from now on. What was stored has them as Discord writes them.
-- SQLite replaces no patterns: a mention is told by its first digit.
UPDATE inbox SET message = replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(message
    , '<@!0', '<user:0'), '<@!1', '<user:1'), '<@!2', '<user:2'), '<@!3', '<user:3'), '<@!4', '<user:4')
    , '<@!5', '<user:5'), '<@!6', '<user:6'), '<@!7', '<user:7'), '<@!8', '<user:8'), '<@!9', '<user:9')
    WHERE message LIKE '%<@!%';
UPDATE inbox SET message = replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(message
    , '<@0', '<user:0'), '<@1', '<user:1'), '<@2', '<user:2'), '<@3', '<user:3'), '<@4', '<user:4')
    , '<@5', '<user:5'), '<@6', '<user:6'), '<@7', '<user:7'), '<@8', '<user:8'), '<@9', '<user:9')
    WHERE message LIKE '%<@%';
UPDATE inbox SET message = replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(message
    , '<#0', '<channel:0'), '<#1', '<channel:1'), '<#2', '<channel:2'), '<#3', '<channel:3'), '<#4', '<channel:4')
    , '<#5', '<channel:5'), '<#6', '<channel:6'), '<#7', '<channel:7'), '<#8', '<channel:8'), '<#9', '<channel:9')
    WHERE message LIKE '%<#%';
UPDATE outbox SET message = replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(message
    , '<@!0', '<user:0'), '<@!1', '<user:1'), '<@!2', '<user:2'), '<@!3', '<user:3'), '<@!4', '<user:4')
    , '<@!5', '<user:5'), '<@!6', '<user:6'), '<@!7', '<user:7'), '<@!8', '<user:8'), '<@!9', '<user:9')
    WHERE message LIKE '%<@!%';
UPDATE outbox SET message = replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(message
    , '<@0', '<user:0'), '<@1', '<user:1'), '<@2', '<user:2'), '<@3', '<user:3'), '<@4', '<user:4')
    , '<@5', '<user:5'), '<@6', '<user:6'), '<@7', '<user:7'), '<@8', '<user:8'), '<@9', '<user:9')
    WHERE message LIKE '%<@%';
UPDATE outbox SET message = replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(message
    , '<#0', '<channel:0'), '<#1', '<channel:1'), '<#2', '<channel:2'), '<#3', '<channel:3'), '<#4', '<channel:4')
    , '<#5', '<channel:5'), '<#6', '<channel:6'), '<#7', '<channel:7'), '<#8', '<channel:8'), '<#9', '<channel:9')
    WHERE message LIKE '%<#%';
UPDATE turns SET reply = replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(reply
    , '<@!0', '<user:0'), '<@!1', '<user:1'), '<@!2', '<user:2'), '<@!3', '<user:3'), '<@!4', '<user:4')
    , '<@!5', '<user:5'), '<@!6', '<user:6'), '<@!7', '<user:7'), '<@!8', '<user:8'), '<@!9', '<user:9')
    WHERE reply LIKE '%<@!%';
UPDATE turns SET reply = replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(reply
    , '<@0', '<user:0'), '<@1', '<user:1'), '<@2', '<user:2'), '<@3', '<user:3'), '<@4', '<user:4')
    , '<@5', '<user:5'), '<@6', '<user:6'), '<@7', '<user:7'), '<@8', '<user:8'), '<@9', '<user:9')
    WHERE reply LIKE '%<@%';
UPDATE turns SET reply = replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(reply
    , '<#0', '<channel:0'), '<#1', '<channel:1'), '<#2', '<channel:2'), '<#3', '<channel:3'), '<#4', '<channel:4')
    , '<#5', '<channel:5'), '<#6', '<channel:6'), '<#7', '<channel:7'), '<#8', '<channel:8'), '<#9', '<channel:9')
    WHERE reply LIKE '%<#%';
-- Within a document a line break is a backslash and an n.
UPDATE seats SET contribution = replace(contribution, '\n-# ', '\n<small>') WHERE instr(contribution, '\n-# ') > 0;
