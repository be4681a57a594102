//! Generates the messages and the client from the schema in `RUMMY_PROTO`, or `../../proto`.

use std::{env, error::Error};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-env-changed=RUMMY_PROTO");
    let folder = env::var("RUMMY_PROTO").unwrap_or_else(|_| "../../proto".to_owned());
    // prost-build tells cargo itself which files to watch.
    tonic_prost_build::configure()
        .build_server(false)
        .compile_protos(&[format!("{folder}/rummy/referee/v1/play.proto")], &[folder])?;
    Ok(())
}
