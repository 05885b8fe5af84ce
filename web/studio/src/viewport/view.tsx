import { Center, Loader, Stack, Text } from "@mantine/core";
import { useEffect, useRef, useState } from "react";
import { useStudio } from "../store.js";
import { haveViewport, tellRefusal, theViewport } from "../studio.js";
import { Viewport } from "./viewport.js";

/** The view in three dimensions; all of it lives outside of React. */
export function View() {
  const holder = useRef<HTMLDivElement>(null);
  useEffect(() => {
    let gone = false;
    const canvas = document.createElement("canvas");
    canvas.tabIndex = 0;
    canvas.setAttribute("aria-label", "View");
    holder.current!.append(canvas);
    void Viewport.open(canvas)
      .then((viewport) => {
        if (gone) return viewport.dispose();
        haveViewport(viewport);
        viewport.reload();
      })
      .catch(tellRefusal);
    return () => {
      gone = true;
      theViewport()?.dispose();
      haveViewport(null);
      canvas.remove();
    };
  }, []);
  return (
    <>
      <div ref={holder} style={{ position: "absolute", inset: 0 }} />
      <Status />
    </>
  );
}

function Status() {
  const frame = useStudio((s) => s.frame);
  const picked = useStudio((s) => s.picked);
  if (frame === null) return <Opening />;
  return (
    <div className="studio-overlay">
      {picked?.name && (
        <Text fz="xs" c="dimmed" data-testid="picked">
          {picked.name}
        </Text>
      )}
    </div>
  );
}

/** Until the first frame is there; a while longer where compiled code is not there yet either. */
function Opening() {
  const open = useStudio((s) => s.open);
  const connection = useStudio((s) => s.connection);
  const [long, setLong] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLong(true), 4000);
    return () => clearTimeout(timer);
  }, []);
  if (connection === "lost") return null;
  if (!open) {
    return (
      <Center pos="absolute" inset={0} style={{ pointerEvents: "none" }}>
        <Text fz="sm" c="dimmed">
          Nothing is open
        </Text>
      </Center>
    );
  }
  return (
    <Center pos="absolute" inset={0} style={{ pointerEvents: "none" }}>
      <Stack align="center" gap="xs" maw={320}>
        <Loader size="sm" />
        <Text fz="sm" c="dimmed" ta="center">
          {long ? "Opening. The very first time parts of the program are compiled, which takes a minute." : "Opening"}
        </Text>
      </Stack>
    </Center>
  );
}
