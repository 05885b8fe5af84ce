import { createTheme } from "@mantine/core";

/** Dense and calm: small controls, little colour. */
export const theme = createTheme({
  primaryColor: "orange",
  primaryShade: { light: 8, dark: 6 },
  defaultRadius: "sm",
  fontFamily: "system-ui, sans-serif",
  fontSizes: { xs: "11px", sm: "12px", md: "13px", lg: "14px", xl: "16px" },
  spacing: { xs: "6px", sm: "8px", md: "12px", lg: "16px", xl: "20px" },
  components: {
    Button: { defaultProps: { size: "compact-sm", variant: "default" } },
    ActionIcon: { defaultProps: { size: "md", variant: "subtle", color: "gray" } },
    TextInput: { defaultProps: { size: "xs" } },
    NumberInput: { defaultProps: { size: "xs" } },
    Select: { defaultProps: { size: "xs", allowDeselect: false, comboboxProps: { withinPortal: true } } },
    SegmentedControl: { defaultProps: { size: "xs" } },
    Slider: { defaultProps: { size: "sm", thumbSize: 14 } },
    Switch: { defaultProps: { size: "xs" } },
    Checkbox: { defaultProps: { size: "xs" } },
    Tooltip: { defaultProps: { openDelay: 400, withArrow: true, multiline: true, maw: 280 } },
    Tabs: { defaultProps: { variant: "outline" } },
  },
});
