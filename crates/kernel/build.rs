//! The migrations are a part of the program, so it is built again when one is added.

fn main() {
    println!("cargo::rerun-if-changed=../../migrations");
}
