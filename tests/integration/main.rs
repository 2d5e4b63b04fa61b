mod page;
mod sandbox;
mod support {
    pub(crate) mod skip;
}
