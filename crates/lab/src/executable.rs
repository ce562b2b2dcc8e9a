//! Programs on this machine.

use std::path::Path;

/// Whether there is such a program: a file that may be executed, or a name on PATH.
pub(crate) fn exists(program: &str) -> bool {
    let is_executable = |path: &Path| {
        use std::os::unix::fs::PermissionsExt;
        path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    };
    if program.contains('/') {
        return is_executable(Path::new(program));
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders).any(|folder| is_executable(&folder.join(program)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_looked_for_on_the_path() {
        assert!(exists("sh") && exists("/bin/sh"));
        assert!(!exists("no-such-program-of-vesica") && !exists("/bin") && !exists("/no/such"));
    }
}
