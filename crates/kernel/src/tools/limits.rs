//! The research limits of a run (TOOL-4), used by planning, execution and prompts.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResearchLimits {
    /// Searches per run.
    pub queries: u32,
    /// Pages fetched per run.
    pub fetches: u32,
    /// Pages fetched between two searches.
    pub pages_per_query: u32,
    /// Rounds of finding and filling gaps.
    pub rounds: u32,
}

pub const RESEARCH: ResearchLimits = ResearchLimits { queries: 6, fetches: 16, pages_per_query: 3, rounds: 3 };

impl ResearchLimits {
    /// For prompts: `6 searches, 16 pages, 3 pages a search, 3 rounds of filling gaps`.
    pub fn describe(&self) -> String {
        let Self { queries, fetches, pages_per_query, rounds } = self;
        format!("{queries} searches, {fetches} pages, {pages_per_query} pages a search, {rounds} rounds of filling gaps")
    }
}

/// The research done in a run. Recomputed from the journal on resume.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ResearchUse {
    queries: u32,
    fetches: u32,
    /// Pages since the last search. None before the first.
    since_query: Option<u32>,
}

impl ResearchUse {
    /// Counts a call. Other tools are not limited here.
    ///
    /// # Errors
    /// The limit reached, as a sentence for the model. The call is not counted.
    pub fn take(&mut self, tool: &str) -> Result<(), String> {
        match tool {
            "web_search" if self.queries == RESEARCH.queries => {
                return Err(format!("no search is left: a run has {}; work with what was found", RESEARCH.queries));
            }
            "web_search" => {
                self.queries += 1;
                self.since_query = Some(0);
            }
            "fetch_page" | "http_get" if self.fetches == RESEARCH.fetches => {
                return Err(format!("no page is left: a run has {}; work with what was read", RESEARCH.fetches));
            }
            "fetch_page" | "http_get" if self.since_query == Some(RESEARCH.pages_per_query) => {
                let most = RESEARCH.pages_per_query;
                return Err(format!(
                    "{most} pages were read since the last search, which is the limit; search again, or work with what was read"
                ));
            }
            "fetch_page" | "http_get" => {
                self.fetches += 1;
                self.since_query = self.since_query.map(|pages| pages + 1);
            }
            _ => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn six_searches_with_three_pages_each_make_sixteen_pages() {
        let mut used = ResearchUse::default();
        for _ in 0..5 {
            used.take("web_search").unwrap();
            for _ in 0..3 {
                used.take("fetch_page").unwrap();
            }
            assert!(used.take("fetch_page").unwrap_err().starts_with("3 pages were read since the last search"));
        }
        used.take("web_search").unwrap();
        used.take("fetch_page").unwrap();
        assert_eq!(used.take("fetch_page").unwrap_err(), "no page is left: a run has 16; work with what was read");
        assert_eq!(used.take("web_search").unwrap_err(), "no search is left: a run has 6; work with what was found");
        used.take("workspace_write").unwrap();
    }

    #[test]
    fn what_the_item_names_is_read_without_a_search() {
        let mut used = ResearchUse::default();
        for _ in 0..16 {
            used.take("http_get").unwrap();
        }
        let before = used;
        assert!(used.take("fetch_page").is_err());
        assert_eq!(used, before, "a refused call is not counted");
    }
}
