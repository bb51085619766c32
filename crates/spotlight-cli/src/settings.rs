//! `spotlight settings`

use std::fmt::Write;

use anyhow::Result;
use clap::Args;
use spotlight::model::{Setting, Task};

use crate::output::{print, width, wrapped};
use crate::tasks;

/// List every setting.
///
/// A recipe may hold any of them, and `train --set` changes one. `train --show` prints those that a training would use.
#[derive(Args)]
pub struct Settings {
    #[arg(value_parser = tasks::parse, help = format!("Only of this task: {} [default: all]", tasks::names(", ", " or ")))]
    task: Option<Task>,
    /// As tables in Markdown
    #[arg(long)]
    markdown: bool,
}

impl Settings {
    /// Runs the command.
    pub fn run(&self) -> Result<()> {
        let tasks: Vec<Task> = self.task.map_or(Task::ALL.to_vec(), |task| vec![task]);
        let text = match self.markdown {
            true => page(&tasks),
            false => tasks.iter().map(|&task| listed(task, width())).collect::<Vec<_>>().join("\n"),
        };
        print(&text)
    }
}

/// The settings of a task by their sections; those that are in none come first, under no name.
fn sections(task: Task) -> Vec<(String, Vec<(String, Setting)>)> {
    let mut sections: Vec<(String, Vec<(String, Setting)>)> = Vec::new();
    for setting in task.settings() {
        let (section, name) = setting.key.rsplit_once('.').unwrap_or(("", &setting.key));
        let (section, name) = (section.to_string(), name.to_string());
        match sections.iter_mut().find(|(known, _)| *known == section) {
            Some((_, list)) => list.push((name, setting)),
            None => sections.push((section, vec![(name, setting)])),
        }
    }
    sections
}

/// The settings of a task as they stand in a recipe, each with its meaning under it.
fn listed(task: Task, width: usize) -> String {
    let mut text = format!("task = \"{}\" ({})\n", task.name(), task.rows());
    for (section, settings) in sections(task) {
        if !section.is_empty() {
            let _ = writeln!(text, "\n[{section}]");
        }
        for (name, setting) in settings.iter().filter(|(name, _)| name != "task") {
            let _ = writeln!(text, "{name} = {}", setting.default);
            let chosen = setting.chosen.map(|how| format!("Without a recipe: {how}."));
            for paragraph in [Some(setting.meaning.clone()), chosen].into_iter().flatten() {
                for line in wrapped(&paragraph, width.saturating_sub(4)) {
                    let _ = writeln!(text, "    {line}");
                }
            }
        }
    }
    text
}

/// `docs/settings.md`.
fn page(tasks: &[Task]) -> String {
    let mut text = String::from(
        "# Settings\n\n\
         Every key that a recipe may hold, and `train --set` may change, with the value it has in a recipe that does not name it. Without a recipe, `train` chooses some of them\n\
         from the data; `train --show` prints what it would choose, as a recipe. A recipe with `model.architecture = \"transformer\"` has other defaults for its sizes and its steps\n\
         ([transformer.md](transformer.md)); `train RECIPE --show` prints all of them.\n\n\
         This page is made by `spotlight settings --markdown` from the code; a test holds that it is current.\n",
    );
    for &task in tasks {
        let _ = writeln!(text, "\n## {}: {}", task.name(), task.rows());
        for (section, settings) in sections(task) {
            let title = if section.is_empty() { String::new() } else { format!("\n### {}: `[{section}]`\n", task.name()) };
            let _ = writeln!(text, "{title}\n| key | default | meaning | without a recipe |\n|---|---|---|---|");
            for (name, setting) in settings {
                let meaning = setting.meaning.replace('|', "\\|");
                let _ = writeln!(text, "| `{name}` | `{}` | {meaning} | {} |", setting.default, setting.chosen.unwrap_or_default());
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_is_wider_than_the_terminal_and_no_setting_is_missing() {
        for &task in Task::ALL {
            let text = listed(task, 80);
            assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
            for setting in task.settings().iter().filter(|s| s.key != "task") {
                let name = setting.key.rsplit('.').next().unwrap_or_default();
                assert!(text.contains(&format!("\n{name} = {}\n", setting.default)), "{}", setting.key);
            }
        }
    }

    #[test]
    fn the_page_is_current() {
        let page = page(Task::ALL);
        let written = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/settings.md")).unwrap();
        assert!(page == written, "docs/settings.md is old: cargo run -- settings --markdown > docs/settings.md");
    }
}
