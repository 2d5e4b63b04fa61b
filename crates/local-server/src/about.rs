//! What the page tells newcomers about the team.

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct About {
    /// Other pages, as labels and addresses.
    pub links: Vec<(String, String)>,
    pub personas: Vec<AboutPersona>,
    /// The language models in one line. None: none is connected, and the page says how to connect one.
    pub models: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AboutPersona {
    pub slug: String,
    pub name: String,
    /// The persona's job on the team.
    pub role: String,
}

impl About {
    /// The role of a persona.
    pub fn role(&self, slug: &str) -> Option<&str> {
        self.personas.iter().find(|persona| persona.slug == slug).map(|persona| persona.role.as_str())
    }
}
