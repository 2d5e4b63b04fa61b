//! What a command is called, what it takes and who may give it. Plain data: every surface is generated from it.

/// Who may give a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Right {
    Anybody,
    /// Somebody who is listed as an operator, and whoever uses the command line.
    Operator,
}

/// Who sees the reply in a chat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Audience {
    /// The caller alone: Discord calls it ephemeral.
    Caller,
    Everybody,
}

/// Where a command or an argument is offered.
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

/// A command, or a group of them. A group has subcommands and neither arguments nor a handler.
#[derive(Debug, Clone, PartialEq)]
pub struct CommandSpec {
    pub name: &'static str,
    /// One line, at most 100 characters, which is Discord's limit.
    pub description: &'static str,
    pub arguments: Vec<ArgumentSpec>,
    pub subcommands: Vec<Self>,
    pub right: Right,
    pub audience: Audience,
    pub surface: Surface,
}

impl CommandSpec {
    /// A command for anybody, whose reply the caller alone sees.
    pub fn new(name: &'static str, description: &'static str) -> Self {
        Self {
            name,
            description,
            arguments: Vec::new(),
            subcommands: Vec::new(),
            right: Right::Anybody,
            audience: Audience::Caller,
            surface: Surface::Everywhere,
        }
    }

    #[must_use]
    pub fn argument(mut self, argument: ArgumentSpec) -> Self {
        self.arguments.push(argument);
        self
    }

    /// Everybody in the channel sees the reply.
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

    /// What is needed to give the command with these arguments.
    pub fn right_with<'a>(&self, given: impl IntoIterator<Item = &'a str>) -> Right {
        given.into_iter().filter_map(|name| self.find_argument(name)).map(|argument| argument.right).fold(self.right, Right::max)
    }

    /// Who sees the reply to the command with these arguments. What changes something for everybody is told to everybody.
    pub fn audience_with<'a>(&self, given: impl IntoIterator<Item = &'a str>) -> Audience {
        let mut given = given.into_iter().filter_map(|name| self.find_argument(name));
        if given.any(|argument| argument.right == Right::Operator) { Audience::Everybody } else { self.audience }
    }
}

/// Something that is given with a command.
#[derive(Debug, Clone, PartialEq)]
pub struct ArgumentSpec {
    pub name: &'static str,
    /// One line, at most 100 characters.
    pub description: &'static str,
    pub kind: ArgumentKind,
    pub required: bool,
    /// May be given several times. Chats have no such thing, so it is for the command line.
    pub many: bool,
    /// What giving it takes, where that is more than the command itself takes.
    pub right: Right,
    pub surface: Surface,
}

/// What an argument may be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ArgumentKind {
    /// At most so many characters.
    Text(u16),
    /// The name of something that whoever registered this kind can complete: `persona`, `item`, `job`.
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

/// One of the values of a choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Choice {
    /// What handlers get and the command line takes: lower-case letters and hyphens.
    pub value: &'static str,
    /// What a chat shows.
    pub label: &'static str,
}

impl Choice {
    pub const fn new(value: &'static str, label: &'static str) -> Self {
        Self { value, label }
    }
}

impl ArgumentSpec {
    fn of(name: &'static str, description: &'static str, kind: ArgumentKind) -> Self {
        Self { name, description, kind, required: false, many: false, right: Right::Anybody, surface: Surface::Everywhere }
    }

    pub fn text(name: &'static str, most: u16, description: &'static str) -> Self {
        Self::of(name, description, ArgumentKind::Text(most))
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

    /// May be given several times.
    #[must_use]
    pub fn many(self) -> Self {
        Self { many: true, surface: Surface::CommandLine, ..self }
    }

    /// Giving it takes an operator, and everybody sees the reply.
    #[must_use]
    pub fn operators_only(self) -> Self {
        Self { right: Right::Operator, ..self }
    }

    #[must_use]
    pub fn only_in(self, surface: Surface) -> Self {
        Self { surface, ..self }
    }
}
