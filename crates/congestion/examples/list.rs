//! A tool: every algorithm with its parameters, their defaults and sources.

use selfclock_congestion::registry::ENTRIES;

fn main() {
    for entry in ENTRIES {
        println!("{} ({}; {}): {}", entry.name, entry.part.name(), entry.source, entry.about.trim());
        for parameter in entry.parameters {
            println!("    {} = {} ({})", parameter.name, parameter.default, parameter.source);
        }
    }
}
