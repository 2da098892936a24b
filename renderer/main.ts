// Starts the window: finds the access token, connects, shows the frame or asks for the token.

import { mount } from 'svelte';
import './kit/tokens.css';
import './kit/base.css';
import './kit/classes.css';
import Root from './root.svelte';

const target = document.getElementById('app');
if (target !== null) mount(Root, { target });
