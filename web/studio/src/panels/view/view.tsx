import { Button, Group, Select, Slider, Stack, Switch, Text, Tooltip } from "@mantine/core";
import { type LayerName, type Studio, useStudio } from "../../store.js";
import { tellRefusal, theViewport } from "../../studio.js";
import { Legend } from "./legend.js";

const LAYERS: readonly (readonly [LayerName, string, string])[] = [
  ["skin", "Skin", "The character's own meshes"],
  ["muscles", "Muscles", "All muscles as they are in this pose"],
  ["bones", "Bones", "Meshes of bones, where the rig has some"],
  ["fat", "Fat", "Fat between muscles and skin, where it moves"],
  ["skeleton", "Skeleton", "Joints, and the bones between them as the rig has them"],
  ["lines", "Action lines", "Lines of the muscles that are meshes"],
  ["fields", "Fields", "What bends action lines"],
];

const COLOURS = [
  { value: "material", label: "Material" },
  { value: "displacement", label: "How far muscles moved it" },
  { value: "weights", label: "Weights of what is chosen" },
  { value: "activation", label: "Weights times activation" },
];

export function ViewPanel() {
  const layers = useStudio((s) => s.layers);
  const setLayer = useStudio((s) => s.setLayer);
  const colour = useStudio((s) => s.colour);
  const selected = useStudio((s) => s.selected);
  const beside = useStudio((s) => s.beside);
  const set = useStudio((s) => s.set);
  const needsChoice = (colour === "weights" || colour === "activation") && selected === null;
  return (
    <Stack gap="sm">
      {LAYERS.map(([name, title, hint]) => (
        <Group key={name} gap="sm" wrap="nowrap">
          <Tooltip label={hint}>
            <Switch
              w={116}
              label={title}
              checked={layers[name].shown}
              onChange={(event) => setLayer(name, { shown: event.currentTarget.checked })}
            />
          </Tooltip>
          <Slider
            flex={1}
            min={0.05}
            max={1}
            step={0.05}
            label={(value) => `${Math.round(100 * value)} %`}
            thumbLabel={`Opacity of ${title}`}
            disabled={!layers[name].shown}
            value={layers[name].opacity}
            onChange={(opacity) => setLayer(name, { opacity })}
          />
        </Group>
      ))}
      <Button
        onClick={() => {
          setLayer("skin", { shown: true, opacity: 0.3 });
          setLayer("muscles", { shown: true, opacity: 1 });
          setLayer("bones", { shown: true, opacity: 1 });
        }}
      >
        Muscles under translucent skin
      </Button>
      <Select
        label="Colours on the skin"
        data={COLOURS}
        value={colour}
        onChange={(value) => set({ colour: (value ?? "material") as Studio["colour"] })}
      />
      {needsChoice && (
        <Text fz="xs" c="dimmed">
          Choose a muscle or a joint in the list or the view.
        </Text>
      )}
      <Legend />
      <Tooltip label="The same skin without muscles stands beside it">
        <Switch
          label="Plain skin beside it"
          checked={beside}
          onChange={(event) => set({ beside: event.currentTarget.checked })}
        />
      </Tooltip>
      <Group gap="xs">
        <Button onClick={() => theViewport()?.frameAll()}>Frame all</Button>
        <Button disabled={selected === null} onClick={() => theViewport()?.frameSelected()}>
          Frame choice
        </Button>
        <Button onClick={() => theViewport()?.look("front")}>Front</Button>
        <Button onClick={() => theViewport()?.look("side")}>Side</Button>
        <Button onClick={() => theViewport()?.look("back")}>Back</Button>
        <Button onClick={() => void photograph()}>Screenshot</Button>
      </Group>
    </Stack>
  );
}

/** Leave a picture of the view as a file. */
async function photograph(): Promise<void> {
  try {
    const picture = await theViewport()!.picture();
    const link = document.createElement("a");
    link.href = URL.createObjectURL(picture);
    link.download = `${useStudio.getState().document?.character ?? "ecorche"}.png`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  } catch (error) {
    tellRefusal(error);
  }
}
