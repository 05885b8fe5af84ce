import { ActionIcon, Badge, Button, Tabs, Text, Tooltip } from "@mantine/core";
import { IconArrowBackUp, IconArrowForwardUp, IconMoon, IconSun } from "@tabler/icons-react";
import { useEffect } from "react";
import { Notices } from "./panels/files/notices.js";
import { BAR, BOTTOM, PANELS } from "./panels/index.js";
import { Outliner } from "./panels/outliner/outliner.js";
import { useStudio } from "./store.js";
import { act, tell } from "./studio.js";
import { View } from "./viewport/view.js";

export function App() {
  const panel = useStudio((s) => s.panel);
  const set = useStudio((s) => s.set);
  useShortcuts();
  return (
    <div className="studio">
      <Bar />
      <aside className="studio-left">
        <Outliner />
      </aside>
      <main className="studio-view">
        <View />
        <Lost />
        <Notices />
      </main>
      <aside className="studio-right">
        <Tabs value={panel} onChange={(next) => set({ panel: next ?? "view" })} px={6} pt={6}>
          <Tabs.List>
            {PANELS.map(({ id, title, hint }) => (
              <Tooltip key={id} label={hint}>
                <Tabs.Tab value={id} fz="sm" px={8} py={6}>
                  {title}
                </Tabs.Tab>
              </Tooltip>
            ))}
          </Tabs.List>
        </Tabs>
        <div className="studio-panel">
          {PANELS.filter(({ id }) => id === panel).map(({ id, Component }) => (
            <Component key={id} />
          ))}
        </div>
      </aside>
      <footer className="studio-bottom">
        {BOTTOM.map((Component, number) => (
          <Component key={number} />
        ))}
      </footer>
    </div>
  );
}

function Bar() {
  const document = useStudio((s) => s.document);
  const theme = useStudio((s) => s.theme);
  const set = useStudio((s) => s.set);
  return (
    <header className="studio-bar">
      <Text fw={600} fz="md" mr={4}>
        Ecorche
      </Text>
      <Text fz="sm" data-testid="file">
        {document === null ? "…" : (document.file ?? `${document.character}, not saved yet`)}
      </Text>
      {document?.dirty && (
        <Badge size="xs" variant="light" data-testid="dirty">
          edited
        </Badge>
      )}
      <Tooltip label={document?.undo ? `Undo ${document.undo} (Ctrl+Z)` : "Nothing to undo"}>
        <ActionIcon aria-label="Undo" disabled={!document?.undo} onClick={() => void undo()}>
          <IconArrowBackUp size={16} />
        </ActionIcon>
      </Tooltip>
      <Tooltip label={document?.redo ? `Redo ${document.redo} (Ctrl+Shift+Z)` : "Nothing to redo"}>
        <ActionIcon aria-label="Redo" disabled={!document?.redo} onClick={() => void redo()}>
          <IconArrowForwardUp size={16} />
        </ActionIcon>
      </Tooltip>
      {BAR.map((Component, number) => (
        <Component key={number} />
      ))}
      <span style={{ flex: 1 }} />
      <Button onClick={() => void act("view.rest")}>Bind pose</Button>
      <Tooltip label={theme === "dark" ? "Light" : "Dark"}>
        <ActionIcon aria-label="Theme" onClick={() => set({ theme: theme === "dark" ? "light" : "dark" })}>
          {theme === "dark" ? <IconSun size={16} /> : <IconMoon size={16} />}
        </ActionIcon>
      </Tooltip>
    </header>
  );
}

function Lost() {
  const state = useStudio((s) => s.connection);
  const begun = useStudio((s) => s.frame !== null);
  if (state === "open" || (state === "connecting" && !begun)) return null;
  return (
    <div className="studio-lost" role="alert">
      {state === "lost"
        ? "The studio's server does not answer. It is tried again by itself; what you ask meanwhile is done then, once."
        : "Connecting…"}
    </div>
  );
}

async function undo(): Promise<void> {
  tell((await act("document.undo"))?.lines ?? []);
}

async function redo(): Promise<void> {
  tell((await act("document.redo"))?.lines ?? []);
}

function useShortcuts(): void {
  useEffect(() => {
    const pressed = (event: KeyboardEvent): void => {
      const typing = event.target instanceof HTMLElement && event.target.closest("input, textarea, [contenteditable]");
      if (typing || !(event.ctrlKey || event.metaKey)) return;
      const key = event.key.toLowerCase();
      const call = key === "z" ? (event.shiftKey ? redo : undo) : key === "y" ? redo : null;
      if (call !== null) {
        event.preventDefault();
        void call();
      }
    };
    window.addEventListener("keydown", pressed);
    return () => window.removeEventListener("keydown", pressed);
  }, []);
}
