// Requests to the API, with what shows that they come from a page of the service.
const TOKEN = () => document.querySelector("meta[name=firstsight-token]").content;

export const headers = (more = {}) => ({ "X-Firstsight-Token": TOKEN(), ...more });

// what became of it: `ok`, and what was said; of a problem `detail` and `remedy`
export async function send(address, said) {
  try {
    const response = await fetch(address, {
      method: "POST",
      headers: headers({ "Content-Type": "application/json", Accept: "application/json" }),
      body: JSON.stringify(said),
    });
    const answer = await response.json().catch(() => ({}));
    if (response.ok) return { ok: true, answer };
    return { ok: false, detail: answer.detail ?? response.statusText, remedy: answer.remedy };
  } catch {
    return { ok: false, detail: "The service cannot be reached.", remedy: "Is it still running?" };
  }
}
