// What was said before in the conversation of the chat, loaded in parts: the last messages first.

/** @typedef {import("./chat_session.js").ChatSession} ChatSession */
/** @typedef {import("./chat_link.js").ChatLink} ChatLink */

/** How many messages are loaded at once. */
const MOST_MESSAGES = 400;

export class ChatHistory {
  #chat;
  #link;

  /** @param {ChatSession} chat @param {ChatLink} link */
  constructor(chat, link) {
    this.#chat = chat;
    this.#link = link;
  }

  /**
   * Loads the last messages of a conversation, or those before one, and returns the request.
   * @param {string} conversation @param {number} [before] the number of a message
   */
  async load(conversation, before) {
    const fields = { conversationId: conversation, as: "events", limit: MOST_MESSAGES };
    const request = await this.#link.send("load_conversation", before ? { ...fields, before } : fields);
    await this.#link.ended(request);
    return request;
  }

  /** Whether the conversation that is shown has messages that were not loaded. */
  get hasEarlier() {
    const { store, conversation } = this.#chat;
    return store.loaded !== null && store.loaded.conversation === conversation && store.loaded.first > 0;
  }

  /** Loads the messages before those that are shown. Returns false if none were added. */
  async loadEarlier() {
    const { store, app } = this.#chat;
    const { loaded } = store;
    if (!loaded || !this.hasEarlier) return false;
    await app.attempt(async () => {
      const request = await this.load(loaded.conversation, loaded.first);
      // Somebody may have gone elsewhere meanwhile, or pressed twice.
      if (store.loaded === loaded) store.takeEarlier(request);
    });
    return store.loaded !== null && store.loaded !== loaded && store.loaded.first < loaded.first;
  }

  /** Loads everything that was said, and returns its turns; none if that fails or another conversation is opened meanwhile. */
  async allTurns() {
    const { store, conversation } = this.#chat;
    const isShown = () => conversation === this.#chat.conversation;
    while (isShown() && this.hasEarlier) if (!(await this.loadEarlier())) return [];
    return isShown() ? store.turns(conversation) : [];
  }
}
