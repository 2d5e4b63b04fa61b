/// The permission that a command needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Right {
    /// For things that concern only the caller, such as private messages from the team. Also given where direct messages are off.
    Own,
    Anybody,
    /// A configured operator, or anybody at the command line.
    Operator,
}

/// What a command does to the team's data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    Looks,
    Changes,
    /// Throws work away. A persona carries it out only after the person has pressed a button.
    Discards,
}

/// Who sees the reply in a chat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Audience {
    /// Only the caller. Discord calls this ephemeral.
    Caller,
    Everybody,
}

/// Where a command or an argument is available.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Surface {
    Everywhere,
    Chat,
    CommandLine,
}

impl Surface {
    pub fn is_in_chat(self) -> bool {
        self != Self::CommandLine
    }

    pub fn is_on_command_line(self) -> bool {
        self != Self::Chat
    }
}

/// A command or a group. A group has subcommands, but no arguments and no handler.
#[derive(Debug, Clone, PartialEq)]
pub struct CommandSpec {
    pub name: &'static str,
    /// One line of at most 100 characters (Discord's limit).
    pub description: &'static str,
    pub arguments: Vec<ArgumentSpec>,
    pub subcommands: Vec<Self>,
    pub right: Right,
    pub audience: Audience,
    pub surface: Surface,
    pub shortcut: Option<Shortcut>,
    /// None: it changes something if everybody sees the reply or only operators may do it.
    pub effect: Option<Effect>,
    /// Only people give it. A persona does not carry it out for them, because it has a tool of its own or must not.
    pub people_only: bool,
    /// Arguments that work, as at the command line: `"Fix the lamp" --owner vince`. Needed by a command that has arguments.
    pub example: Option<&'static str>,
    /// The heading of the command line's help under which the command is listed.
    pub topic: Topic,
}

/// A heading of the command line's help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Topic {
    Work,
    Meetings,
    Team,
}

/// A command that a platform also offers in a menu, such as the menu of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shortcut {
    /// At most 24 characters (Slack's limit).
    pub label: &'static str,
    /// The argument that takes the text of the message.
    pub takes: &'static str,
}

impl CommandSpec {
    /// A command for everybody, with a reply for the caller only.
    pub fn new(name: &'static str, description: &'static str) -> Self {
        Self {
            name,
            description,
            arguments: Vec::new(),
            subcommands: Vec::new(),
            right: Right::Anybody,
            audience: Audience::Caller,
            surface: Surface::Everywhere,
            shortcut: None,
            effect: None,
            people_only: false,
            example: None,
            topic: Topic::Team,
        }
    }

    /// See [`Self::example`](field@Self::example).
    #[must_use]
    pub fn example(self, arguments: &'static str) -> Self {
        Self { example: Some(arguments), ..self }
    }

    /// See [`Self::topic`](field@Self::topic).
    #[must_use]
    pub fn listed_under(self, topic: Topic) -> Self {
        Self { topic, ..self }
    }

    /// The command changes something, although only the caller sees the reply.
    #[must_use]
    pub fn changes(self) -> Self {
        Self { effect: Some(Effect::Changes), ..self }
    }

    /// See [`Effect::Discards`].
    #[must_use]
    pub fn discards(self) -> Self {
        Self { effect: Some(Effect::Discards), ..self }
    }

    /// See [`Self::people_only`].
    #[must_use]
    pub fn people_only(self) -> Self {
        Self { people_only: true, ..self }
    }

    /// Also offers the command in the menu of a message. The argument `takes` gets the text of the message.
    #[must_use]
    pub fn offered_as(self, label: &'static str, takes: &'static str) -> Self {
        Self { shortcut: Some(Shortcut { label, takes }), ..self }
    }

    #[must_use]
    pub fn argument(mut self, argument: ArgumentSpec) -> Self {
        self.arguments.push(argument);
        self
    }

    /// Makes the reply visible to everybody in the channel.
    #[must_use]
    pub fn public(self) -> Self {
        Self { audience: Audience::Everybody, ..self }
    }

    #[must_use]
    pub fn operators_only(self) -> Self {
        Self { right: Right::Operator, ..self }
    }

    #[must_use]
    pub fn only_in(self, surface: Surface) -> Self {
        Self { surface, ..self }
    }

    pub fn find_argument(&self, name: &str) -> Option<&ArgumentSpec> {
        self.arguments.iter().find(|argument| argument.name == name)
    }

    /// The permission needed with these arguments.
    pub fn right_with<'a>(&self, given: impl IntoIterator<Item = &'a str>) -> Right {
        given.into_iter().filter_map(|name| self.find_argument(name)).map(|argument| argument.right).fold(self.right, Right::max)
    }

    /// What the command does with these arguments.
    pub fn effect_with<'a>(&self, given: impl IntoIterator<Item = &'a str> + Clone) -> Effect {
        let is_public = self.audience_with(given.clone()) == Audience::Everybody;
        let by_default = if is_public || self.right_with(given) == Right::Operator { Effect::Changes } else { Effect::Looks };
        self.effect.unwrap_or(by_default)
    }

    /// Who sees the reply with these arguments. Changes that affect everybody are visible to everybody.
    pub fn audience_with<'a>(&self, given: impl IntoIterator<Item = &'a str>) -> Audience {
        let mut given = given.into_iter().filter_map(|name| self.find_argument(name));
        if given.any(|argument| argument.right == Right::Operator) { Audience::Everybody } else { self.audience }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct ArgumentSpec {
    pub name: &'static str,
    /// One line of at most 100 characters.
    pub description: &'static str,
    pub kind: ArgumentKind,
    pub required: bool,
    /// May be repeated. Only for the command line, because chats do not support it.
    pub many: bool,
    /// The permission this argument needs, if more than the command itself.
    pub right: Right,
    pub surface: Surface,
    /// What the command line completes besides references: a kind for which a completion is registered.
    pub completes: Option<&'static str>,
    /// It is the person who gives the command if it is left out.
    pub is_caller_by_default: bool,
}

/// The type of an argument.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ArgumentKind {
    /// At most this many characters.
    Text(u16),
    /// A channel or a person by name or id, of at most this many characters. An id without its platform gets the team's.
    NameOrId(u16),
    /// A reference to an existing thing (`persona`, `item`, `job`), completed by the registered function.
    Reference(&'static str),
    Choice(&'static [Choice]),
    Number {
        min: f64,
        max: f64,
    },
    Integer {
        min: i64,
        max: i64,
    },
    /// `30s`, `10m`, `2h`, `1d`.
    Duration,
    /// `2026-03-31`, `today`, `yesterday`.
    Date,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Choice {
    /// The value for handlers and the command line: lower-case letters and hyphens.
    pub value: &'static str,
    /// Shown in a chat.
    pub label: &'static str,
}

impl Choice {
    pub const fn new(value: &'static str, label: &'static str) -> Self {
        Self { value, label }
    }
}

impl ArgumentSpec {
    fn of(name: &'static str, description: &'static str, kind: ArgumentKind) -> Self {
        Self {
            name,
            description,
            kind,
            required: false,
            many: false,
            right: Right::Anybody,
            surface: Surface::Everywhere,
            completes: None,
            is_caller_by_default: false,
        }
    }

    pub fn text(name: &'static str, most: u16, description: &'static str) -> Self {
        Self::of(name, description, ArgumentKind::Text(most))
    }

    /// See [`ArgumentKind::NameOrId`].
    pub fn name_or_id(name: &'static str, most: u16, description: &'static str) -> Self {
        Self::of(name, description, ArgumentKind::NameOrId(most))
    }

    pub fn persona(name: &'static str, description: &'static str) -> Self {
        Self::reference(name, "persona", description)
    }

    pub fn reference(name: &'static str, to: &'static str, description: &'static str) -> Self {
        Self::of(name, description, ArgumentKind::Reference(to))
    }

    pub fn choice(name: &'static str, choices: &'static [Choice], description: &'static str) -> Self {
        Self::of(name, description, ArgumentKind::Choice(choices))
    }

    pub fn number(name: &'static str, (min, max): (f64, f64), description: &'static str) -> Self {
        Self::of(name, description, ArgumentKind::Number { min, max })
    }

    pub fn integer(name: &'static str, (min, max): (i64, i64), description: &'static str) -> Self {
        Self::of(name, description, ArgumentKind::Integer { min, max })
    }

    pub fn duration(name: &'static str, description: &'static str) -> Self {
        Self::of(name, description, ArgumentKind::Duration)
    }

    pub fn date(name: &'static str, description: &'static str) -> Self {
        Self::of(name, description, ArgumentKind::Date)
    }

    #[must_use]
    pub fn required(self) -> Self {
        Self { required: true, ..self }
    }

    /// Completed at the command line with things of this kind. A chat completes references only, because it must hide what is private.
    #[must_use]
    pub fn completed_by(self, kind: &'static str) -> Self {
        Self { completes: Some(kind), ..self }
    }

    /// See [`Self::is_caller_by_default`](field@Self::is_caller_by_default).
    #[must_use]
    pub fn caller_by_default(self) -> Self {
        Self { is_caller_by_default: true, ..self }
    }

    /// The kind of things that the command line completes.
    pub fn completes(&self) -> Option<&'static str> {
        match self.kind {
            ArgumentKind::Reference(kind) => Some(kind),
            _ => self.completes,
        }
    }

    /// May be repeated.
    #[must_use]
    pub fn many(self) -> Self {
        Self { many: true, surface: Surface::CommandLine, ..self }
    }

    /// Requires an operator, and makes the reply public.
    #[must_use]
    pub fn operators_only(self) -> Self {
        Self { right: Right::Operator, ..self }
    }

    #[must_use]
    pub fn only_in(self, surface: Surface) -> Self {
        Self { surface, ..self }
    }
}
