import { SegmentedControl, TextInput } from "@mantine/core";
import { IconSearch } from "@tabler/icons-react";
import { type ReactNode, useDeferredValue, useEffect, useMemo, useRef, useState } from "react";
import { useStudio } from "../../store.js";

/** Muscles and joints by name: what is chosen here is chosen in the view, and the other way round. */
export function Outliner() {
  const [kind, setKind] = useState<"muscle" | "joint">("muscle");
  const [typed, setTyped] = useState("");
  const sought = useDeferredValue(typed.trim().toLowerCase());
  const document = useStudio((s) => s.document);
  const selected = useStudio((s) => s.selected);
  const set = useStudio((s) => s.set);
  // what is chosen in the view is found in the list
  useEffect(() => {
    if (selected !== null) setKind(selected.kind);
  }, [selected]);
  const rows = useMemo(() => {
    if (document === null) return [];
    const all =
      kind === "muscle"
        ? document.muscles.map(({ name, muscle, group }) => ({ name, more: `${muscle} ${group}`, depth: 0 }))
        : asTree(document.joints).map(([number, depth]) => {
            const { name, canonical } = document.joints[number]!;
            return { name, more: canonical ?? "", depth };
          });
    return all.filter(({ name, more }) => `${name} ${more}`.toLowerCase().includes(sought));
  }, [document, kind, sought]);
  return (
    <>
      <div style={{ padding: 8, display: "grid", gap: 6 }}>
        <SegmentedControl
          fullWidth
          value={kind}
          onChange={(next) => setKind(next as "muscle" | "joint")}
          data={[
            { value: "muscle", label: `Muscles ${document?.muscles.length ?? ""}` },
            { value: "joint", label: `Joints ${document?.joints.length ?? ""}` },
          ]}
        />
        <TextInput
          placeholder="Find"
          aria-label="Find"
          leftSection={<IconSearch size={13} />}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
      </div>
      <div style={{ overflowY: "auto", flex: 1 }} role="listbox" aria-label={kind === "muscle" ? "Muscles" : "Joints"}>
        {rows.map(({ name, depth }) => (
          <Row
            key={name}
            depth={depth}
            selected={selected?.kind === kind && selected.name === name}
            onClick={() => set({ selected: { kind, name }, panel: kind === "muscle" ? panelOf(name) : "joints" })}
          >
            {name}
          </Row>
        ))}
      </div>
    </>
  );
}

/** The panel that edits a muscle. */
export function panelOf(name: string): string {
  const muscle = useStudio.getState().document?.muscles.find((one) => one.name === name);
  return muscle?.kind === "lines" ? "lines" : "muscles";
}

function Row(props: { depth: number; selected: boolean; onClick: () => void; children: ReactNode }) {
  const row = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (props.selected) row.current?.scrollIntoView({ block: "nearest" });
  }, [props.selected]);
  return (
    <div
      ref={row}
      className="studio-row"
      role="option"
      aria-selected={props.selected}
      data-selected={props.selected}
      style={{ paddingLeft: 10 + 9 * Math.min(props.depth, 8) }}
      onClick={props.onClick}
    >
      <span>{props.children}</span>
    </div>
  );
}

/** Joints from the roots down, each followed by all that hangs on it: number and depth. */
function asTree(joints: readonly { parent: number }[], above = -1, depth = 0): [number, number][] {
  return joints.flatMap(({ parent }, number): [number, number][] =>
    parent === above ? [[number, depth], ...asTree(joints, number, depth + 1)] : [],
  );
}
