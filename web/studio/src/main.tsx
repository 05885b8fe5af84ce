import "@mantine/core/styles.css";
import "@mantine/notifications/styles.css";
import "./studio.css";
import { MantineProvider } from "@mantine/core";
import { Notifications } from "@mantine/notifications";
import { createRoot } from "react-dom/client";
import { App } from "./app.js";
import { useStudio } from "./store.js";
import { connection, theViewport } from "./studio.js";
import { theme } from "./theme.js";

declare global {
  interface Window {
    /** For tests and the curious. */
    ecorcheStudio: {
      readonly store: typeof useStudio;
      readonly request: typeof connection.request;
      readonly viewport: typeof theViewport;
    };
  }
}

window.ecorcheStudio = {
  store: useStudio,
  request: connection.request.bind(connection),
  viewport: theViewport,
};

function Page() {
  const scheme = useStudio((s) => s.theme);
  return (
    <MantineProvider theme={theme} forceColorScheme={scheme}>
      <Notifications position="bottom-center" limit={4} />
      <App />
    </MantineProvider>
  );
}

createRoot(document.getElementById("root")!).render(<Page />);
