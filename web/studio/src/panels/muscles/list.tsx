import { Button, Group, Stack, Text, TextInput, Tooltip } from "@mantine/core";
import { useMemo, useState } from "react";
import { useStudio } from "../../store.js";
import { act } from "../../studio.js";
import { choose } from "./add.js";

/** The muscles by group, while none is chosen. */
export function GroupList() {
  const document = useStudio((s) => s.document);
  const set = useStudio((s) => s.set);
  const [open, setOpen] = useState<string | null>(null);
  const [sought, setSought] = useState("");
  const groups = useMemo(() => {
    const found = new Map<string, string[]>();
    for (const { name, group, kind } of document?.muscles ?? []) {
      if (kind === "lines" || !`${name} ${group}`.toLowerCase().includes(sought.toLowerCase())) continue;
      const word = group || "no group";
      found.set(word, [...(found.get(word) ?? []), name]);
    }
    return [...found].sort(([a], [b]) => a.localeCompare(b));
  }, [document, sought]);
  const any = (document?.muscles ?? []).length > 0;
  return (
    <Stack gap="xs">
      <Text fz="xs" c="dimmed">
        {any ? "Click a muscle in the view or the list, or add one." : "No muscles yet: add some."}
      </Text>
      {any && (
        <Group gap="xs">
          <TextInput flex={1} placeholder="Find a group or muscle" value={sought} onChange={(e) => setSought(e.currentTarget.value)} />
          {(["left", "right"] as const).map((side) => (
            <Tooltip key={side} label={`Put all muscles of the ${side} on the other side as they are on theirs; partners are replaced`}>
              <Button onClick={() => void act("muscle.mirror", { side }).then(choose)}>{`Mirror ${side}`}</Button>
            </Tooltip>
          ))}
        </Group>
      )}
      <div>
        {groups.map(([group, names]) => (
          <div key={group}>
            <div className="studio-row muscle-group" onClick={() => setOpen(open === group ? null : group)}>
              <span>{`${open === group || sought !== "" ? "▾" : "▸"} ${group}`}</span>
              <small>{names.length}</small>
            </div>
            {(open === group || sought !== "") &&
              names.map((name) => (
                <div
                  key={name}
                  className="studio-row muscle-member"
                  onClick={() => set({ selected: { kind: "muscle", name } })}
                >
                  <span>{name}</span>
                </div>
              ))}
          </div>
        ))}
      </div>
    </Stack>
  );
}
