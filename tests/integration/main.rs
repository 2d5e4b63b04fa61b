//! All integration tests in one binary: one link, one PostgreSQL server.

#![expect(clippy::unwrap_used, reason = "clippy takes only functions marked as tests for tests, and stories are functions they call")]

mod backlog;
mod backlog_crashes;
mod backlog_surfaces;
mod board;
mod day;
mod discord;
mod feeds;
mod jobs;
mod kanban;
mod llm;
mod meeting;
mod memory;
mod mission;
mod morning;
mod offline;
mod people;
mod platforms;
mod reload;
mod reminders;
mod schedule;
mod slack;
mod slack_command;
mod standup;
mod standup_surfaces;
mod store;
mod support;
mod team;
mod tools;
mod voice;
mod work;
